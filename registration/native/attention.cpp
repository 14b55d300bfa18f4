#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <limits>

#include "registration/native/composed_attention.h"
#include "registration/native/fused_attention.h"
#include "registration/native/native.h"

namespace tessera::native {
namespace {

bool is_empty(const AttentionArguments& a) {
  return a.query.numel() == 0 || a.value.numel() == 0;
}

/// Whether ATen's fused operators answer wrongly, or not at all.
bool fails_fused(const AttentionArguments& a) {
  return aten_is_wrong(a) || !fits_grid(a);
}

/// Scores are held; takes what the fused operators do not.
at::Tensor by_products(const AttentionArguments& a) {
  const std::optional<at::Tensor> mask = a.has_mask() ? added_mask(*a.mask, a.query) : a.mask;
  return std::get<0>(at::_scaled_dot_product_attention_math(a.query, a.key, a.value, mask, a.dropout_p,
                                                            a.is_causal, {}, a.scale, a.enable_gqa));
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
  // ATen's fused CPU kernel divides by the number of batches and of heads.
  return restride(is_empty(a) ? by_products(a) : attention_formula(a), a);
}

at::Tensor attention_formula(const AttentionArguments& a) {
  if (fails_fused(a)) return by_products(a);
  const bool short_mask = a.has_mask() && a.mask->dim() < 2;  // ATen wants [S_q, S_k] or more dims
  const std::optional<at::Tensor> mask = short_mask ? a.mask->expand({1, a.key.size(2)}) : a.mask;
  return at::scaled_dot_product_attention(aligned(a.query), aligned(a.key), aligned(a.value), mask,
                                          a.dropout_p, a.is_causal, a.scale, a.enable_gqa);
}

at::Tensor restride(const at::Tensor& output, const AttentionArguments& a) {
  const auto symbolic = output_strides(a);
  const auto strides = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(symbolic));
  if (output.strides() == strides) return output;
  std::array<int64_t, 4> order = {0, 1, 2, 3}, back{};
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  for (int64_t i = 0; i < 4; ++i) back[order[i]] = i;
  const at::Tensor dense = output.permute(order).contiguous().permute(back);
  // What is left are strides of dims of size 1.
  return dense.strides() == strides ? dense : dense.as_strided(dense.sizes(), strides);
}

}  // namespace tessera::native
