#include "registration/native/fused_attention.h"

#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <cstdint>
#include <limits>

#include "registration/native/alignment.h"
#include "registration/native/native.h"

namespace tessera::native {
namespace {

constexpr int64_t kMostOfAGrid = 65535;  // blocks along dims y and z

using Outputs = std::tuple<at::Tensor, at::Tensor>;
using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

int64_t to_multiple(int64_t size, int64_t multiple) {
  return (multiple - size % multiple) % multiple;
}

/// Whether the mask hides anything: a diagonal beyond the last key does not, as in the first step of a KV
/// cache.
bool hides_keys(const AttentionArguments& a) {
  return a.is_causal && a.diagonal < a.key.size(2) - 1;
}

/// ATen's flash kernels want head dims that are multiples of 8.
at::Tensor padded(const at::Tensor& t) {
  const int64_t missing = to_multiple(t.size(3), 8);
  return missing == 0 ? aligned(t) : at::constant_pad_nd(t, {0, missing});
}

Outputs flash(const AttentionArguments& a) {
  if (a.query.is_cpu()) {
    return at::_scaled_dot_product_flash_attention_for_cpu(a.query, a.key, a.value, 0.0, hides_keys(a), {},
                                                           a.scale);
  }
  const auto all = at::_scaled_dot_product_flash_attention(padded(a.query), padded(a.key), padded(a.value),
                                                           0.0, hides_keys(a), false, a.scale_value());
  return {with_aligned_gradient(std::get<0>(all)).narrow(3, 0, a.value.size(3)), std::get<1>(all)};
}

/// Output, and logsumexp of rows up to a multiple of 32.
Outputs efficient_padded(const AttentionArguments& a) {
  const auto all =
      at::_scaled_dot_product_efficient_attention(aligned(a.query), aligned(a.key), aligned(a.value), {},
                                                  /*compute_log_sumexp=*/true, 0.0, hides_keys(a), a.scale);
  return {with_aligned_gradient(std::get<0>(all)), std::get<1>(all)};
}

Outputs efficient(const AttentionArguments& a) {
  const auto [output, logsumexp] = efficient_padded(a);
  return {output, logsumexp.narrow(2, 0, a.query.size(2))};
}

Outputs cudnn(const AttentionArguments& a) {
  const auto all = at::_scaled_dot_product_cudnn_attention(aligned(a.query), aligned(a.key), aligned(a.value),
                                                           {}, /*compute_log_sumexp=*/true, 0.0,
                                                           hides_keys(a), false, a.scale);
  return {with_aligned_gradient(std::get<0>(all)),
          std::get<1>(all).reshape({a.query.size(0), a.query.size(1), a.query.size(2)})};
}

Gradients flash_backward(const AttentionArguments& a, const AttentionOutputs& o) {
  if (a.query.is_cpu()) {
    return at::_scaled_dot_product_flash_attention_for_cpu_backward(
        o.grad, a.query, a.key, a.value, o.output, o.logsumexp, 0.0, hides_keys(a), {}, a.scale);
  }
  const at::Tensor none =
      at::empty({0}, a.query.options().dtype(at::kLong));  // no dropout: no random state is read
  auto [query, key, value] = at::_scaled_dot_product_flash_attention_backward(
      padded(o.grad), padded(a.query), padded(a.key), padded(a.value), padded(o.output), o.logsumexp, {}, {},
      a.query.size(2), a.key.size(2), 0.0, hides_keys(a), none, none, a.scale_value());
  return {query.narrow(3, 0, a.query.size(3)), key.narrow(3, 0, a.key.size(3)),
          value.narrow(3, 0, a.value.size(3))};
}

/// As the backward takes them: it reads the rows of the output in its forward's order, [B, S_q, H, D],
/// whatever the strides are.
Outputs efficient_outputs(const AttentionArguments& a, const AttentionOutputs& o) {
  if (a.query.scalar_type() != at::kFloat) {
    const int64_t missing = to_multiple(a.query.size(2), 32);
    return {aligned(o.output.transpose(1, 2).contiguous()).transpose(1, 2),
            at::constant_pad_nd(o.logsumexp, {0, missing}, std::numeric_limits<double>::infinity())};
  }
  // In fp32 the rounding of the scores in another kernel's forward would show: theirs is the same in both
  // directions.
  return efficient_padded(a);
}

Gradients efficient_backward(const AttentionArguments& a, const AttentionOutputs& o) {
  const at::Tensor none = at::empty({0}, a.query.options().dtype(at::kLong));
  const auto [output, logsumexp] = efficient_outputs(a, o);
  auto [query, key, value, bias] = at::_scaled_dot_product_efficient_attention_backward(
      aligned(o.grad), aligned(a.query), aligned(a.key), aligned(a.value), {}, output, logsumexp, none, none,
      0.0, {true, true, true, false}, hides_keys(a), a.scale);
  return {query, key, value};
}

}  // namespace

bool fits_grid(const AttentionArguments& a) {
  return a.query.is_cpu() || (a.query.sym_size(0) <= kMostOfAGrid && a.query.sym_size(1) <= kMostOfAGrid);
}

bool aten_is_wrong(const AttentionArguments& a) {
  const bool masks = a.is_causal || a.query.is_cuda();  // kernels of a GPU mask the keys past the last one
  return masks && a.scale.has_value() && static_cast<float>(*a.scale) <= 0;
}

at::SDPBackend fused_backend(const AttentionArguments& a) {
  const bool empty = a.query.numel() == 0 || a.value.numel() == 0;
  if (empty || (hides_keys(a) && a.diagonal != 0) || aten_is_wrong(a)) return at::SDPBackend::math;
  const auto backend = static_cast<at::SDPBackend>(
      at::_fused_sdp_choice(a.query, a.key, a.value, {}, 0.0, hides_keys(a), a.scale, a.enable_gqa));
  const bool known = backend == at::SDPBackend::flash_attention ||
                     backend == at::SDPBackend::efficient_attention ||
                     backend == at::SDPBackend::cudnn_attention;
  // Which takes many batches by several grids.
  const bool splits = backend == at::SDPBackend::efficient_attention && a.query.size(1) <= kMostOfAGrid;
  return known && (splits || fits_grid(a)) ? backend : at::SDPBackend::math;
}

Outputs fused_attention(at::SDPBackend backend, const AttentionArguments& a) {
  if (backend == at::SDPBackend::flash_attention) return flash(a);
  return backend == at::SDPBackend::efficient_attention ? efficient(a) : cudnn(a);
}

namespace {

std::optional<Gradients> backward(const AttentionArguments& a, const AttentionOutputs& o) {
  if (a.query.scalar_type() == at::kDouble) return {};  // logsumexp is fp32
  if (!fits_grid(a)) return {};
  const at::SDPBackend backend = fused_backend(a);
  if (backend == at::SDPBackend::efficient_attention) return efficient_backward(a, o);
  // Not cuDNN's backward: ATen keeps its graph by sizes and the strides of query, key and value, so that the
  // next gradient of other strides is read wrong. The flash kernels take the same calls but for a causal mask
  // that is not square, where theirs starts at the other corner.
  const bool square = !hides_keys(a) || a.query.size(2) == a.key.size(2);
  const bool flash =
      backend == at::SDPBackend::flash_attention ||
      (backend == at::SDPBackend::cudnn_attention && square && a.query.size(3) == a.value.size(3));
  if (!flash) return {};
  return flash_backward(a, o);
}

}  // namespace

std::optional<Gradients> fused_attention_backward(const AttentionArguments& a, const AttentionOutputs& o) {
  const int64_t heads = a.query.size(1), groups = a.key.size(1), rows = a.query.size(2);
  const bool on_its_own = heads == groups || groups == 0 || hides_keys(a);
  if (on_its_own || a.query.element_size() != 2) return backward(a, o);
  // Heads that share keys become rows of one, which all see the same: ATen's flash kernels would round each
  // head's gradient of a key before they sum them up, and cuDNN's, which at::scaled_dot_product_attention may
  // take, do not. Not in fp32, where it takes no fused kernel, whose products have fewer digits.
  const auto grouped = [&](const at::Tensor& t) {
    return t.reshape({t.size(0), groups, heads / groups * rows, t.size(3)});
  };
  const at::Tensor query = grouped(a.query), grad = grouped(o.grad), output = grouped(o.output),
                   logsumexp = grouped(o.logsumexp.unsqueeze(-1)).squeeze(-1);
  auto gradients =
      backward({a.op, query, a.key, a.value, kNoTensor, 0.0, false, 0, a.scale}, {grad, output, logsumexp});
  if (gradients.has_value()) std::get<0>(*gradients) = std::get<0>(*gradients).reshape(a.query.sizes());
  return gradients;
}

}  // namespace tessera::native
