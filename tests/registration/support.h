#pragma once
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "tessera/policy.h"

namespace tessera::testing {

/// Sets the policy while it lives.
struct WithPolicy {
  explicit WithPolicy(Policy policy) { set_policy(policy); }
  ~WithPolicy() { set_policy({}); }
};

/// Tests that run once in ATen and once in the interpreter: both are an operator's values on the CPU.
class EitherPolicy : public ::testing::TestWithParam<Policy> {
 protected:
  EitherPolicy() : policy_(GetParam()) { at::manual_seed(0); }

 private:
  WithPolicy policy_;
};
std::string name_of_policy(const ::testing::TestParamInfo<Policy>& info);

inline const auto kPolicies = ::testing::Values(Policy::automatic, Policy::tile);

/// "worst error" and so on, or empty: |got - expected| <= tolerance * (1 + |expected|) everywhere, NaN where
/// NaN; the same sizes.
std::string difference(const at::Tensor& got, const at::Tensor& expected, double tolerance);
#define EXPECT_NEAR_TENSOR(got, expected, tolerance) \
  EXPECT_EQ(::tessera::testing::difference(got, expected, tolerance), "")

double tolerance_of(at::ScalarType dtype);  ///< 1e-5 (fp32), 2e-3 (fp16), 1.6e-2 (bf16)

inline const std::vector<at::ScalarType> kFloats = {at::kFloat, at::kHalf, at::kBFloat16};

/// softmax(scale * q k^T + mask) v in fp64, key heads repeated; a row that sees no key gives 0. `visible`: a
/// boolean or an added mask; causal masks are made with `tril`.
struct Attention {
  at::Tensor output, logsumexp;
};
Attention attention_in_fp64(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const std::optional<at::Tensor>& mask = {}, std::optional<double> scale = {});
at::Tensor tril(int64_t rows, int64_t keys, int64_t diagonal = 0);

/// The output in ATen's differentiable products, in the dtype of the tensors: query, key, value and, where
/// there are four, a mask that is added.
at::Tensor sdpa_math(const std::vector<at::Tensor>& x, bool causal, int64_t diagonal,
                     std::optional<double> scale = {});

/// The text of the c10::Error that `f` throws; "no error" where it throws none.
template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace tessera::testing
