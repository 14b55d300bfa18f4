// The texts stand in this order in every kernel.
// clang-format off
#include "tile_core/codegen/emulated/types.h"
#include "tile_core/codegen/emulated/math.h"
// clang-format on

#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "tile_core/base/dtype.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T>
tessera::DType dtype_of() {
  return std::is_same_v<T, f16> ? tessera::f16 : tessera::bf16;
}

template <typename T>
class Sixteen : public ::testing::Test {};
using SixteenBits = ::testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Sixteen, SixteenBits);

/// The bits that cvt.rn gives for a float, as base/dtype.h rounds.
template <typename T>
unsigned short expected(float x) {
  unsigned short bits = 0;
  tessera::store_element(dtype_of<T>(), &bits, x);
  return std::isnan(x) ? 0x7fff : bits;  // PTX's NaN
}

TYPED_TEST(Sixteen, EveryValueBecomesTheFloatThatItIs) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    TypeParam x{static_cast<unsigned short>(bits)};
    double exact = tessera::load_element(dtype_of<TypeParam>(), &x);
    float actual = convert<float>(x);
    ASSERT_TRUE(std::isnan(exact) ? std::isnan(actual)
                                  : actual == exact && std::signbit(actual) == std::signbit(exact))
        << bits;
    ASSERT_EQ(convert<TypeParam>(actual).bits, std::isnan(exact) ? 0x7fff : bits);
  }
}

TYPED_TEST(Sixteen, FloatsRoundToNearestEven) {
  auto same = [](float x) { return convert<TypeParam>(x).bits == expected<TypeParam>(x); };
  for (unsigned bits = 0; bits < 0x10000; ++bits) {  // around each value and each tie between two
    float x = convert<float>(TypeParam{static_cast<unsigned short>(bits)});
    float next = convert<float>(TypeParam{static_cast<unsigned short>(bits + 1)});
    float tie = x / 2 + next / 2;
    for (float y : {x, tie, std::nextafter(tie, kInfinity), std::nextafter(tie, -kInfinity)})
      ASSERT_TRUE(same(y)) << y;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    float x = emulated::bits_as<float>(static_cast<unsigned>(random()));
    ASSERT_TRUE(same(x)) << x;
  }
}

TYPED_TEST(Sixteen, ConvertsFromAndToEverything) {
  TypeParam three = convert<TypeParam>(int64{3});
  EXPECT_EQ(convert<int64>(three), 3);
  EXPECT_EQ(convert<int>(three), 3);
  EXPECT_TRUE(convert<bool>(three));
  EXPECT_EQ(convert<float>(convert<f16>(three)), 3);
  EXPECT_EQ(convert<float>(convert<bf16>(three)), 3);
  EXPECT_EQ(convert<float>(convert<TypeParam>(true)), 1);
  EXPECT_EQ(convert<float>(convert<TypeParam>(-2)), -2);
}

TEST(EmulatedTypes, FloatsRoundToTf32) {
  const auto same = [](float x) {
    const float expected = tessera::tf32_of(x), actual = tf32_of(x);
    return std::isnan(x) ? std::isnan(actual)
                         : emulated::bits_as<unsigned>(expected) == emulated::bits_as<unsigned>(actual);
  };
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const float x = emulated::bits_as<float>(static_cast<unsigned>(random()));
    const unsigned near = emulated::bits_as<unsigned>(x) / 0x1000 * 0x1000;  // a value or a tie between two
    for (unsigned bits : {near - 1, near, near + 1})
      ASSERT_TRUE(same(emulated::bits_as<float>(bits))) << bits;
  }
  EXPECT_EQ(fma_tf32(0x1.002p0f, 0x1.001p0f, 1.0f), 0x1.004p0f + 1);
  EXPECT_EQ(fma_tf32x3(0x1.002p0f, 3.0f, 1.0f), 0x1.002p0f * 3 + 1);
}

TEST(EmulatedTypes, FloatsBecomeIntegersTowardsZeroAndClamped) {
  EXPECT_EQ(convert<int64>(-1.9f), -1);
  EXPECT_EQ(convert<int>(1.9f), 1);
  EXPECT_EQ(convert<int>(3e9f), std::numeric_limits<int>::max());
  EXPECT_EQ(convert<int>(-kInfinity), std::numeric_limits<int>::min());
  EXPECT_EQ(convert<int>(kNaN), 0);
  EXPECT_EQ(convert<int64>(1e30f), std::numeric_limits<int64>::max());
  EXPECT_EQ(convert<int64>(kNaN), std::numeric_limits<int64>::min());
}

TEST(EmulatedMath, MaximaPassNaNOverAndOrderZeros) {
  EXPECT_EQ(math_max(kNaN, 1.0f), 1);
  EXPECT_EQ(math_max(1.0f, kNaN), 1);
  EXPECT_EQ(math_min(kNaN, 1.0f), 1);
  EXPECT_TRUE(std::isnan(math_max(kNaN, kNaN)));
  EXPECT_FALSE(std::signbit(math_max(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(math_max(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(math_min(0.0f, -0.0f)));
}

TEST(EmulatedMath, Exp2FlushesSubnormals) {
  EXPECT_EQ(math_exp2(-126.0f), 0x1p-126f);
  EXPECT_EQ(math_exp2(-127.0f), 0);
  EXPECT_EQ(math_exp2(-kInfinity), 0);
  EXPECT_EQ(math_exp2(128.0f), kInfinity);
  EXPECT_TRUE(std::isnan(math_exp2(kNaN)));
}

TEST(EmulatedMath, QuotientsRoundDown) {
  EXPECT_EQ(math_div(int64{-7}, int64{2}), -4);
  EXPECT_EQ(math_mod(int64{-7}, int64{2}), 1);
  EXPECT_EQ(math_div(7, -2), -4);
  EXPECT_EQ(math_mod(7, -2), -1);
  EXPECT_EQ(math_div(int64{-7}, int64{0}), 0);
  EXPECT_EQ(math_mod(-7, 0), 0);
}

TEST(EmulatedMath, CountsStepsToAnyBound) {
  constexpr int64 kLeast = std::numeric_limits<int64>::min(), kMost = std::numeric_limits<int64>::max();
  EXPECT_EQ(steps_below(5, 9), 0);
  EXPECT_EQ(steps_below(9, 5), 4);
  EXPECT_EQ(steps_below(int64{1} << 40, -(int64{1} << 40)), 1 << 30);
  EXPECT_EQ(steps_up_to(5, 9), 0);
  EXPECT_EQ(steps_up_to(9, 9), 1);
  EXPECT_EQ(steps_up_to(9, 5), 5);
  for (int64 first : {int64{-5}, int64{0}, int64{7}}) {
    EXPECT_EQ(steps_below(kMost, first), 1 << 30);
    EXPECT_EQ(steps_below(kLeast, first), 0);
    EXPECT_EQ(steps_up_to(kMost, first), (1 << 30) + 1);
    EXPECT_EQ(steps_up_to(kLeast, first), 0);
  }
}

}  // namespace
