#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <limits>
#include <vector>

#include "registration/gradients/derivatives.h"
#include "registration/native/alignment.h"
#include "registration/native/composed_attention.h"
#include "registration/native/fused_attention.h"
#include "registration/native/native.h"

namespace tessera::native {
namespace {

bool is_empty(const AttentionArguments& a) {
  return a.query.sym_numel() == 0 || a.value.sym_numel() == 0;
}

/// Whether ATen's fused operators answer wrongly, or not at all.
bool fails_fused(const AttentionArguments& a) {
  return aten_is_wrong(a) || !fits_grid(a);
}

/// Scores are held; takes what the fused operators do not.
at::Tensor by_products(const AttentionArguments& a) {
  const std::optional<at::Tensor> mask = a.has_mask() ? added_mask(*a.mask, a.query) : a.mask;
  if (a.key.sym_size(1) == 0) {  // a number by which ATen's formula divides, too; the result is empty
    const at::Tensor scores = at::matmul(a.query, a.key.transpose(-2, -1));
    return at::matmul(a.has_mask() ? (scores + *mask).to(a.value.scalar_type()) : scores, a.value);
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(a.query, a.key, a.value, mask, a.dropout_p,
                                                            a.is_causal, {}, a.scale, a.enable_gqa));
}

/// ATen copies a mask whose rows are no multiple of 16 elements, and adds any other one as it stands.
at::Tensor added_as_it_stands(const at::Tensor& mask) {
  const bool copied = mask.scalar_type() == at::kBool || is_traced(mask) || mask.size(-1) % 16 != 0;
  return copied ? mask : aligned(mask);
}

/// As ATen's fused kernels want it: [S_q, S_k] or more dims, of which the last is not broadcast, and aligned.
std::optional<at::Tensor> fused_mask(const AttentionArguments& a) {
  if (!a.has_mask()) return a.mask;
  const c10::SymInt keys = a.key.sym_size(2);
  if (a.mask->dim() < 2) return a.mask->expand_symint({1, keys}).contiguous();
  if (a.mask->sym_size(-1) == keys) return added_as_it_stands(*a.mask);
  std::vector<c10::SymInt> sizes = a.mask->sym_sizes().vec();
  sizes.back() = keys;
  return a.mask->expand_symint(sizes).contiguous();
}

at::Tensor by_fused(const AttentionArguments& a, const std::optional<at::Tensor>& mask) {
  return with_aligned_gradient(at::scaled_dot_product_attention(a.query, a.key, a.value, mask, a.dropout_p,
                                                                a.is_causal, a.scale, a.enable_gqa));
}

/// Whether ATen runs cuDNN, to which it gives a large finite number in place of -inf: a row that the mask
/// hides whole would see every key (https://github.com/pytorch/pytorch/issues/177842). Of a call that is
/// traced or transformed it may.
bool shows_hidden_rows(const AttentionArguments& a, const std::optional<at::Tensor>& mask) {
  if (!mask.has_value() || !a.query.is_cuda() || a.query.element_size() != 2) return false;
  if (!at::globalContext().userEnabledCuDNNSDP()) return false;
  if (is_traced(a.query) || transforms()) return true;
  return at::_fused_sdp_choice(a.query, a.key, a.value, mask, a.dropout_p, a.is_causal, a.scale,
                               a.enable_gqa) == static_cast<int64_t>(at::SDPBackend::cudnn_attention);
}

/// Hidden rows are computed as if the mask showed them, and their results replaced: so are their gradients.
at::Tensor without_hidden_rows(const AttentionArguments& a, const at::Tensor& mask) {
  const bool shows = mask.scalar_type() == at::kBool;
  const at::Tensor seen = shows ? mask : mask.ne(-std::numeric_limits<double>::infinity());
  const at::Tensor hidden = seen.any(-1, /*keepdim=*/true).logical_not();
  const at::Tensor shown = shows ? mask.logical_or(hidden) : mask.masked_fill(hidden, 0);
  return by_fused(a, shown).masked_fill(hidden, 0);
}

}  // namespace

at::Tensor added_mask(const at::Tensor& mask, const at::Tensor& query) {
  if (mask.scalar_type() != at::kBool) return mask;
  return at::zeros_symint(mask.sym_sizes(), query.options())
      .masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

bool composes_attention(const AttentionArguments& a) {
  return fails_fused(a) && a.dropout_p == 0 && !a.has_mask() && !is_empty(a);
}

at::Tensor attention(const AttentionArguments& a) {
  if (composes_attention(a)) return restride(std::get<0>(composed_attention(a)), a);
  return restride(attention_formula(a), a);
}

at::Tensor attention_formula(const AttentionArguments& a) {
  // ATen's fused kernels divide by the number of batches and of heads.
  if (fails_fused(a) || is_empty(a)) return by_products(a);
  const at::Tensor query = aligned(a.query), key = aligned(a.key), value = aligned(a.value);
  const AttentionArguments fused{a.op,        query,       key, value,   a.mask,
                                 a.dropout_p, a.is_causal, 0,   a.scale, a.enable_gqa};
  const std::optional<at::Tensor> mask = fused_mask(fused);
  return shows_hidden_rows(fused, mask) ? without_hidden_rows(fused, *mask) : by_fused(fused, mask);
}

at::Tensor restride(const at::Tensor& output, const AttentionArguments& a) {
  return has_output_strides(output, a) ? output : restride(output, output_strides(a));
}

at::Tensor restride(const at::Tensor& tensor, c10::SymIntArrayRef strides) {
  if (tensor.sym_strides() == strides) return tensor;
  std::array<int64_t, 4> order = {0, 1, 2, 3}, back{};
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  for (int64_t i = 0; i < 4; ++i) back[order[i]] = i;
  const at::Tensor dense = tensor.permute(order).contiguous().permute(back);
  // What is left are strides of dims of size 1.
  return dense.sym_strides() == strides ? dense : dense.as_strided_symint(dense.sym_sizes(), strides);
}

}  // namespace tessera::native
