#include "tests/registration/support.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <sstream>

namespace tessera::testing {

std::string name_of_policy(const ::testing::TestParamInfo<Policy>& info) {
  return info.param == Policy::tile ? "tile" : "automatic";
}

std::string difference(const at::Tensor& got, const at::Tensor& expected, double tolerance) {
  std::ostringstream sizes;
  sizes << got.sizes() << " instead of " << expected.sizes();
  if (got.sizes() != expected.sizes()) return sizes.str();
  const at::Tensor a = got.detach().to(at::kDouble), b = expected.detach().to(at::kDouble);
  if (at::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true)) return "";
  return fmt::format("worst error {} of {}", (a - b).abs().max().item<double>(),
                     b.abs().max().item<double>());
}

double tolerance_of(at::ScalarType dtype) {
  return dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 2e-3 : 1.6e-2;
}

Attention attention_in_fp64(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const std::optional<at::Tensor>& mask, std::optional<double> scale) {
  const auto wide = [&](const at::Tensor& t) {
    return t.detach().to(at::kDouble).repeat_interleave(query.size(1) / t.size(1), 1);
  };
  const at::Tensor q = query.detach().to(at::kDouble);
  at::Tensor scores = q.matmul(wide(key).transpose(-1, -2)) * scale.value_or(1 / std::sqrt(query.size(3)));
  if (mask && mask->scalar_type() == at::kBool)
    scores = scores.masked_fill(mask->logical_not(), -std::numeric_limits<double>::infinity());
  else if (mask)
    scores = scores + mask->to(at::kDouble);
  return {at::_safe_softmax(scores, -1).matmul(wide(value)), at::logsumexp(scores, {-1})};
}

at::Tensor tril(int64_t rows, int64_t keys, int64_t diagonal) {
  return at::ones({rows, keys}, at::kBool).tril(diagonal);
}

at::Tensor sdpa_math(const std::vector<at::Tensor>& x, bool causal, int64_t diagonal,
                     std::optional<double> scale) {
  std::optional<at::Tensor> mask = x.size() > 3 ? std::optional(x[3]) : std::nullopt;
  if (causal) {
    const at::Tensor hidden = tril(x[0].size(2), x[1].size(2), diagonal).logical_not();
    mask = at::zeros(hidden.sizes(), x[0].options())
               .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  }
  return std::get<0>(
      at::_scaled_dot_product_attention_math(x[0], x[1], x[2], mask, 0, false, {}, scale, true));
}

}  // namespace tessera::testing
