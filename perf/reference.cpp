#include "perf/reference.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <cmath>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

namespace tessera::perf {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors to_double(const Tensors& inputs) {
  Tensors result;
  for (const at::Tensor& t : inputs) result.push_back(t.is_floating_point() ? t.to(at::kDouble) : t);
  return result;
}

/// Scores with what must not be seen at -inf; mask [*, S_q, S_k] or undefined.
at::Tensor hide(at::Tensor scores, const at::Tensor& mask, bool causal) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (mask.defined())
    scores =
        mask.scalar_type() == at::kBool ? scores.masked_fill(mask.logical_not(), kHidden) : scores + mask;
  if (!causal) return scores;
  const at::Tensor visible =
      at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).tril();
  return scores.masked_fill(visible.logical_not(), kHidden);
}

/// query, key, value [.., S, D] with as many heads each: output and logsumexp. A row that sees no key gives
/// 0, -inf.
std::pair<at::Tensor, at::Tensor> attention(const at::Tensor& query, const at::Tensor& key,
                                            const at::Tensor& value, const at::Tensor& mask, bool causal) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const at::Tensor scores = hide(query.matmul(key.transpose(-2, -1)) * scale, mask, causal);
  const at::Tensor blind = scores.eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  const at::Tensor weights = scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0);
  return {weights.matmul(value), scores.logsumexp(-1)};
}

at::Tensor mask_of(const Tensors& inputs) {
  return inputs.size() > 3 ? inputs[3] : at::Tensor();
}

Tensors attention_by_heads(const CallSpec& spec, const Tensors& inputs) {
  const at::Tensor &query = inputs[0], &key = inputs[1], &value = inputs[2];
  const std::int64_t B = query.size(0), H = query.size(1), group = H / std::max<std::int64_t>(key.size(1), 1);
  const at::Tensor mask = mask_of(inputs);
  const at::TensorOptions options = query.options().dtype(at::kDouble);
  at::Tensor output = at::empty({B, H, query.size(2), value.size(3)}, options);
  at::Tensor logsumexp = at::empty({B, H, query.size(2)}, options);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t h = 0; h < H; ++h) {
      const at::Tensor own = !mask.defined() ? mask : mask.dim() == 4 ? mask[b][0] : mask;
      const auto [out, lse] = attention(query[b][h].to(at::kDouble), key[b][h / group].to(at::kDouble),
                                        value[b][h / group].to(at::kDouble), own, spec.causal);
      output[b][h].copy_(out);
      logsumexp[b][h].copy_(lse);
    }
  }
  return spec.op == "flash_attention" ? Tensors{output, logsumexp} : Tensors{output};
}

/// One differentiable output from float64 inputs.
at::Tensor formula(const CallSpec& spec, const Tensors& x) {
  if (spec.op == "add") return x[0] + x[1];
  if (spec.op == "softmax") return x[0].softmax(spec.dim);
  if (spec.is_attention()) {
    const std::int64_t group = x[0].size(1) / x[1].size(1);
    return attention(x[0], x[1].repeat_interleave(group, 1), x[2].repeat_interleave(group, 1), mask_of(x),
                     spec.causal)
        .first;
  }
  const at::Tensor product = at::linear(x[0], x[1], x.size() > 2 ? std::optional(x[2]) : std::nullopt);
  return spec.op == "linear" ? product : at::gelu(product, spec.approximate);
}

}  // namespace

Tensors reference(const CallSpec& spec, const Tensors& inputs) {
  const at::NoGradGuard no_grad;
  return spec.is_attention() ? attention_by_heads(spec, inputs) : Tensors{formula(spec, to_double(inputs))};
}

Tensors reference_gradients(const CallSpec& spec, const Tensors& inputs, const at::Tensor& grad) {
  Tensors x, wanted;
  for (const at::Tensor& t : inputs) {
    x.push_back(t.is_floating_point() ? t.detach().to(at::kDouble).set_requires_grad(true) : t);
    if (t.is_floating_point()) wanted.push_back(x.back());
  }
  return torch::autograd::grad({formula(spec, x)}, wanted, {grad.to(at::kDouble)});
}

}  // namespace tessera::perf
