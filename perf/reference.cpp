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

/// query, key [.., S, D] with as many heads each: [.., S_q, S_k] as the softmax takes them.
at::Tensor scores_of(const at::Tensor& query, const at::Tensor& key, const at::Tensor& mask, bool causal) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(-1)));
  return hide(query.matmul(key.transpose(-2, -1)) * scale, mask, causal);
}

/// A row that sees no key gives 0.
at::Tensor attention(const at::Tensor& scores, const at::Tensor& value) {
  const at::Tensor blind = scores.eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0).matmul(value);
}

at::Tensor mask_of(const Tensors& inputs) {
  return inputs.size() > 3 ? inputs[3] : at::Tensor();
}

/// Hands each head's scores, in `dtype`, to `use(batch, head, head of key and value, scores)`.
template <typename Use>
void for_each_head(const CallSpec& spec, const Tensors& inputs, at::ScalarType dtype, const Use& use) {
  const at::Tensor &query = inputs[0], &key = inputs[1], mask = mask_of(inputs);
  const std::int64_t group = query.size(1) / std::max<std::int64_t>(key.size(1), 1);
  for (std::int64_t b = 0; b < query.size(0); ++b) {
    for (std::int64_t h = 0; h < query.size(1); ++h) {
      const at::Tensor own = !mask.defined() ? mask : mask.dim() == 4 ? mask[b][0] : mask;
      use(b, h, h / group, scores_of(query[b][h].to(dtype), key[b][h / group].to(dtype), own, spec.causal));
    }
  }
}

Tensors attention_by_heads(const CallSpec& spec, const Tensors& inputs) {
  const at::Tensor &query = inputs[0], &value = inputs[2];
  const std::int64_t B = query.size(0), H = query.size(1), S = query.size(2);
  const at::TensorOptions options = query.options().dtype(at::kDouble);
  at::Tensor output = at::empty({B, H, S, value.size(3)}, options), sums = at::empty({B, H, S}, options);
  for_each_head(spec, inputs, at::kDouble, [&](auto b, auto h, auto g, const at::Tensor& scores) {
    output[b][h].copy_(attention(scores, value[b][g].to(at::kDouble)));
    sums[b][h].copy_(scores.logsumexp(-1));
  });
  return {output, sums};
}

at::Tensor product_of(const Tensors& x) {
  return at::linear(x[0], x[1], x.size() > 2 ? std::optional(x[2]) : std::nullopt);
}

/// One differentiable output from float64 inputs.
at::Tensor formula(const CallSpec& spec, const Tensors& x) {
  if (spec.op == "add") return x[0] + x[1];
  if (spec.op == "softmax") return x[0].softmax(spec.dim);
  if (spec.is_attention()) {
    const std::int64_t group = x[0].size(1) / x[1].size(1);
    const at::Tensor key = x[1].repeat_interleave(group, 1), value = x[2].repeat_interleave(group, 1);
    return attention(scores_of(x[0], key, mask_of(x), spec.causal), value);
  }
  const at::Tensor product = product_of(x);
  return spec.op == "linear" ? product : at::gelu(product, spec.approximate);
}

}  // namespace

Tensors reference(const CallSpec& spec, const Tensors& inputs) {
  const at::NoGradGuard no_grad;
  if (spec.is_attention()) return attention_by_heads(spec, inputs);
  const Tensors x = to_double(inputs);
  return spec.training ? Tensors{formula(spec, x), product_of(x)} : Tensors{formula(spec, x)};
}

at::Tensor logsumexp(const CallSpec& spec, const Tensors& inputs, at::ScalarType dtype) {
  const at::NoGradGuard no_grad;
  const at::Tensor& query = inputs[0];
  at::Tensor sums = at::empty({query.size(0), query.size(1), query.size(2)}, query.options().dtype(dtype));
  for_each_head(spec, inputs, dtype, [&](auto b, auto h, auto /*g*/, const at::Tensor& scores) {
    sums[b][h].copy_(scores.logsumexp(-1));
  });
  return sums;
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
