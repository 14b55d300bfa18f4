#include "perf/accuracy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <limits>

#include "perf/call_words.h"
#include "perf/families.h"
#include "perf/inputs.h"
#include "perf/reference.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

at::Tensor values(std::vector<double> list) {
  return at::tensor(list, at::kDouble);
}

TEST(Error, IsTakenOverAllElements) {
  const Error error = error_of(values({1, -4, 2}).to(at::kFloat), values({1, -2, 2}));
  EXPECT_DOUBLE_EQ(error.maximum, 2);
  EXPECT_DOUBLE_EQ(error.rms, 2 / std::sqrt(3));
  EXPECT_DOUBLE_EQ(error.magnitude, 2);
}

TEST(Error, NansAndInfinitiesMustStandInTheSamePlaces) {
  EXPECT_EQ(error_of(values({kNaN, kInfinity, 1}), values({kNaN, kInfinity, 1})).maximum, 0);
  EXPECT_EQ(error_of(values({1, 1}), values({kNaN, 1})).maximum, kInfinity);
  EXPECT_EQ(error_of(values({kNaN, 1}), values({1, 1})).maximum, kInfinity);
  EXPECT_EQ(error_of(values({-kInfinity}), values({kInfinity})).maximum, kInfinity);
}

TEST(Error, OfNoElementsIsZero) {
  EXPECT_EQ(error_of(at::empty({0, 3}), at::empty({0, 3}, at::kDouble)), Error{});
}

TEST(Error, OfAnotherSizeIsNoError) {
  EXPECT_THROW(error_of(values({1, 1}), values({1})), UserError);
}

TEST(Accuracy, WhatIsNotFiniteNeverHoldsAndIsTheWorst) {
  for (const double wrong : {kNaN, kInfinity}) {
    for (const double native : {0.5, kNaN, kInfinity}) {
      for (const Error& ours : {Error{wrong, 0, 1}, Error{0, wrong, 1}}) {
        const Accuracy accuracy{.ours = ours, .native = {native, native, 1}};
        EXPECT_FALSE(accuracy.holds());
        EXPECT_EQ(accuracy.used(), kInfinity);
      }
    }
  }
  EXPECT_TRUE((Accuracy{.ours = {1, 1, 1}, .native = {kInfinity, 1, 1}}.holds()));
}

TEST(Accuracy, AllowsNativesErrorAndAShareOfTheMagnitude) {
  Accuracy accuracy{.ours = {.maximum = 0.0119, .rms = 0.001, .magnitude = 10},
                    .native = {.maximum = 0.002, .rms = 0.001, .magnitude = 10},
                    .dtype = bf16};
  EXPECT_DOUBLE_EQ(accuracy.allowed_maximum(), 0.012);
  EXPECT_TRUE(accuracy.holds());
  accuracy.ours.maximum = 0.0121;
  EXPECT_FALSE(accuracy.holds());
  accuracy.factor = kGradient;
  EXPECT_TRUE(accuracy.holds());
  accuracy.ours.rms = 0.02;
  EXPECT_FALSE(accuracy.holds());
  EXPECT_EQ(accuracy.text(),
            "error 1.2e-02 max, 2.0e-02 rms; native 2.0e-03, 1.0e-03; allowed 1.3e-02, 1.1e-02");
}

TEST(Accuracy, TheReferenceIsAtensFormulaInDouble) {
  for (const CallSpec& spec : accuracy_calls()) {
    if (spec.dtype != f32 || spec.shape.front() > 512) continue;
    const auto inputs = make_inputs(spec, at::kCPU);
    const auto ours = run_tessera(spec, inputs), expected = reference(spec, inputs);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const Error error = error_of(ours[i], expected[i]);
      EXPECT_LT(error.maximum, 1e-5 * std::max(error.magnitude, 1.0)) << to_text(spec) << ", output " << i;
    }
  }
}

/// Of the kernel's outputs, as many as it has.
TEST(Accuracy, EveryOutputIsExpected) {
  for (const auto& [text, dtypes] : std::vector<std::pair<const char*, std::vector<DType>>>{
           {"linear_gelu 9x17x8 --dtype bf16", {bf16}},
           {"linear_gelu 9x17x8 --dtype bf16 --training", {bf16, bf16}},
           {"attention 1x2x9x16 --dtype f16", {f16, f32}},
           {"flash_attention 1x2x9x16 --causal --dtype bf16", {bf16, f32}}}) {
    SCOPED_TRACE(text);
    const CallSpec spec = call_from_text(text);
    const auto inputs = make_inputs(spec, at::kCPU), ours = run_tessera(spec, inputs);
    const std::vector<Expected> expected = expected_of(spec, inputs);
    ASSERT_EQ(expected.size(), dtypes.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(expected[i].dtype, dtypes[i]);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_TRUE(accuracy_of(ours[i], expected[i]).holds()) << accuracy_of(ours[i], expected[i]).text();
      const double wrong = expected[i].dtype == f32 ? 1e-4 : 0.1;
      EXPECT_FALSE(accuracy_of(ours[i] + wrong, expected[i]).holds());
    }
  }
}

TEST(Accuracy, OfALogsumexpNearZeroIsThatOfTheSum) {
  const Expected expected{values({1e-3}), {}, f32, 1};
  EXPECT_TRUE(accuracy_of(values({1e-3 + 9e-7}), expected).holds());
  EXPECT_FALSE(accuracy_of(values({1e-3 + 2e-6}), expected).holds());
}

TEST(Accuracy, ARowThatSeesNoKeyHasALogsumexpOfMinusInfinity) {
  const CallSpec spec = call_from_text("attention 1x2x3x8 --mask bool --dtype f32");
  auto inputs = make_inputs(spec, at::kCPU);
  inputs[3].fill_(false);
  const Expected expected = expected_of(spec, inputs)[1];
  EXPECT_TRUE(expected.reference.eq(-kInfinity).all().item<bool>());
  EXPECT_EQ(expected.native.maximum, 0);
  EXPECT_TRUE(accuracy_of(expected.reference.to(at::kFloat), expected).holds());
  EXPECT_FALSE(accuracy_of(at::zeros_like(expected.reference), expected).holds());
}

TEST(Accuracy, HoldsInTheInterpreterForwardAndBackward) {
  set_policy(Policy::tile);
  for (const char* call : {"add 7x33 --dtype bf16", "linear_gelu 9x17x8 --dtype bf16",
                           "linear_gelu 9x17x8 --training --dtype f16",
                           "flash_attention 1x4x9x16 --kv-heads 2 --causal --dtype bf16",
                           "softmax 5x33 --dtype f32", "attention 1x2x9x16 --causal --dtype f16"}) {
    const CallSpec spec = call_from_text(call);
    EXPECT_TRUE(measure_accuracy(spec, "cpu").holds())
        << call << ": " << measure_accuracy(spec, "cpu").text();
    EXPECT_TRUE(measure_gradient_accuracy(spec, "cpu").holds()) << call;
  }
  set_policy({});
}

TEST(Inputs, AreTheSameForTheSameSeed) {
  const CallSpec spec = call_from_text("attention 1x2x8x4 --mask bool");
  const auto a = make_inputs(spec, at::kCPU, 1), b = make_inputs(spec, at::kCPU, 1),
             c = make_inputs(spec, at::kCPU, 2);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(at::equal(a[i], b[i]));
  EXPECT_FALSE(at::equal(a[0], c[0]));
  EXPECT_EQ(a[3].scalar_type(), at::kBool);
}

}  // namespace
}  // namespace tessera::perf
