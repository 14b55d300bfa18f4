#include <algorithm>
#include <cmath>
#include <functional>
#include <torch/csrc/autograd/autograd.h>

#include "tessera/ops.h"
#include "tests/registration/support.h"

// Gradients of attention in fp32 where the scores are large: as far from fp64 as ATen's products are.
namespace tessera {
namespace {

using at::Tensor;
using torch::autograd::variable_list;

class AttentionGradients : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, AttentionGradients, testing::kPolicies, testing::name_of_policy);

constexpr int64_t kDiagonal = -1;  // which none of ATen's fused kernels takes

/// The gradients of sum(cos(output)).
template <typename Attend>
variable_list gradients(const variable_list& inputs, at::ScalarType dtype, const Attend& attend) {
  variable_list leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.detach().to(dtype).requires_grad_());
  return torch::autograd::grad({attend(leaves).cos().sum()}, leaves);
}

Tensor ours(const variable_list& x, double scale) {
  return std::get<0>(tessera::flash_attention(x[0], x[1], x[2], true, kDiagonal, scale));
}

/// Of query [1, 3, rows, D] by one head of keys.
variable_list tensors(int64_t rows, int64_t keys, int64_t D) {
  return {at::randn({1, 3, rows, D}), at::randn({1, 1, keys, D}), at::randn({1, 1, keys, D})};
}

TEST_P(AttentionGradients, OfOneKeyHaveNoTraceOfItsScore) {
  const variable_list found = gradients(tensors(37, 1, 135), at::kFloat, [](auto& x) { return ours(x, 2); });
  EXPECT_TRUE(found[0].eq(0).all().item<bool>());
  EXPECT_TRUE(found[1].eq(0).all().item<bool>());
}

/// Scores of 40 lose 2e-6; weights by one kernel's scores and another's sum would lose it twice.
TEST_P(AttentionGradients, OfLargeScoresErrAsAtens) {
  double mine = 0, atens = 0;
  for (int call = 0; call < 10; ++call) {
    const variable_list x = tensors(17, 14, 191);
    const auto by_products = [](auto& t) { return testing::sdpa_math(t, true, kDiagonal, 2); };
    const variable_list exact = gradients(x, at::kDouble, by_products);
    const auto error = [&](const variable_list& found) {
      double largest = 0;
      for (size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, (found[i] - exact[i]).abs().max().item<double>());
      return largest;
    };
    mine += error(gradients(x, at::kFloat, [](auto& t) { return ours(t, 2); }));
    atens += error(gradients(x, at::kFloat, by_products));
  }
  EXPECT_LE(mine, atens);
}

}  // namespace
}  // namespace tessera
