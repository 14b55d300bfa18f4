#include <ATen/autocast_mode.h>

#include "tessera/ops.h"
#include "tests/registration/support.h"

namespace tessera {
namespace {

using at::Tensor;

/// Autocast on the CPU while it lives.
struct Autocast {
  explicit Autocast(at::ScalarType dtype, bool enabled = true)
      : was_enabled(at::autocast::is_autocast_enabled(at::kCPU)),
        was(at::autocast::get_autocast_dtype(at::kCPU)) {
    at::autocast::set_autocast_enabled(at::kCPU, enabled);
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, was_enabled);
    at::autocast::set_autocast_dtype(at::kCPU, was);
  }
  bool was_enabled;
  at::ScalarType was;
};

class InAutocast : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(, InAutocast, ::testing::Values(at::kBFloat16, at::kHalf),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

TEST_P(InAutocast, B132_MixedDtypesAreCast) {
  const Autocast on(GetParam());
  const Tensor q = at::randn({1, 2, 5, 8}), lower = q.to(GetParam());
  EXPECT_EQ(tessera::scaled_dot_product_attention(q, q, lower).scalar_type(), GetParam());
  EXPECT_EQ(tessera::scaled_dot_product_attention(q, lower, q, at::zeros({5, 5})).scalar_type(), GetParam());
  EXPECT_EQ(tessera::scaled_dot_product_attention(q, q, q, at::ones({5, 5}, at::kBool)).scalar_type(),
            GetParam());
  const auto [output, logsumexp] = tessera::flash_attention(q, lower, q);
  EXPECT_EQ(output.scalar_type(), GetParam());
  EXPECT_EQ(logsumexp.scalar_type(), at::kFloat);
}

TEST_P(InAutocast, LinearRunsInTheLowerPrecision) {
  const Tensor x = at::randn({3, 8}), w = at::randn({4, 8}).requires_grad_(),
               b = at::randn({4}).requires_grad_();
  {
    const Autocast on(GetParam());
    const Tensor y = tessera::linear_gelu(x, w, b);
    EXPECT_EQ(y.scalar_type(), GetParam());
    EXPECT_EQ(tessera::linear(x, w).scalar_type(), GetParam());
    EXPECT_EQ(tessera::linear(x.to(at::kDouble), w.detach().to(at::kDouble)).scalar_type(), at::kDouble);
    y.sum().backward();
  }
  EXPECT_EQ(w.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(b.grad().scalar_type(), at::kFloat);
}

TEST_P(InAutocast, SoftmaxRunsInFp32) {
  const Autocast on(GetParam());
  const Tensor x = at::randn({3, 8}).to(GetParam());
  EXPECT_EQ(tessera::softmax(x, 1).scalar_type(), at::kFloat);
  EXPECT_EQ(tessera::softmax(x, 1, GetParam()).scalar_type(), GetParam());
  EXPECT_EQ(tessera::softmax(x.to(at::kDouble), 1).scalar_type(), at::kDouble);
}

TEST_P(InAutocast, AddPromotes) {
  const Autocast on(GetParam());
  EXPECT_EQ(tessera::add(at::ones({2}), at::ones({2}).to(GetParam())).scalar_type(), at::kFloat);
}

TEST_P(InAutocast, ADisabledRegionIsUnaffected) {
  const Autocast on(GetParam());
  const Autocast off(GetParam(), false);
  EXPECT_EQ(tessera::linear(at::ones({3, 8}), at::ones({4, 8})).scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace tessera
