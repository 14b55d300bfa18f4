#include "tile_core/base/dtype.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Dtype, IntegersHoldWholeNumbersOfTheirRange) {
  for (double value : {0.0, -3.0, 0x1p31 - 1, -0x1p31}) EXPECT_TRUE(holds(i32, value)) << value;
  for (double value : {0.5, 0x1p31, -0x1p31 - 1, kInfinity, -kInfinity, kNaN})
    EXPECT_FALSE(holds(i32, value)) << value;
  for (double value : {0.0, 0x1p62, -0x1p63, 0x1p63}) EXPECT_TRUE(holds(i64, value)) << value;
  for (double value : {-0.5, 0x1.0000000000001p63, -0x1.0000000000001p63, kInfinity, kNaN})
    EXPECT_FALSE(holds(i64, value)) << value;
  EXPECT_TRUE(holds(boolean, 1));
  for (double value : {2.0, 0.5, kNaN}) EXPECT_FALSE(holds(boolean, value)) << value;
}

TEST(Dtype, FloatsHoldWhatTheyRoundTo) {
  for (DType dtype : {f16, bf16, f32}) {
    for (double value : {0.0, -1.5, kInfinity, kNaN, round_to(dtype, 0.1)})
      EXPECT_TRUE(holds(dtype, value)) << value;
    EXPECT_FALSE(holds(dtype, 0.1)) << name_of(dtype);
  }
}

TEST(Dtype, Tf32HasElevenBitsAndRoundsTiesAway) {
  for (float value : {0.0F, -1.0F, 0x1.004p0F, 0x1.ffcp127F, 0x1.4p-149F * 0x1p13F})
    EXPECT_EQ(tf32_of(value), value);
  EXPECT_EQ(tf32_of(0x1.002p0F), 0x1.004p0F);
  EXPECT_EQ(tf32_of(-0x1.002p0F), -0x1.004p0F);
  EXPECT_EQ(tf32_of(0x1.001ffep0F), 1.0F);
  EXPECT_EQ(tf32_of(0x1.fffffep127F), static_cast<float>(kInfinity));
  EXPECT_EQ(tf32_of(static_cast<float>(-kInfinity)), static_cast<float>(-kInfinity));
  EXPECT_TRUE(std::isnan(tf32_of(static_cast<float>(kNaN))));
}

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Dtype, IntegersThatDoNotFitAreNotWritten) {
  std::int64_t memory = 5;
  EXPECT_EQ(error_of([&] { store_element(i32, &memory, 3e9); }), "i32 cannot hold 3000000000");
  EXPECT_EQ(error_of([&] { store_element(i64, &memory, 1e300); }), "i64 cannot hold 1e+300");
  EXPECT_EQ(error_of([&] { store_element(i64, &memory, kNaN); }), "i64 cannot hold nan");
  EXPECT_EQ(memory, 5);
  store_element(i64, &memory, -1.5);
  EXPECT_EQ(memory, -1);
}

TEST(Dtype, IntegersThatADoubleLacksAreNotRead) {
  for (std::int64_t value : {std::int64_t{0}, std::int64_t{1} << 53, -(std::int64_t{1} << 62),
                             std::numeric_limits<std::int64_t>::min()})
    EXPECT_EQ(load_element(i64, &value), static_cast<double>(value));
  std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(error_of([&] { load_element(i64, &odd); }),
            "the i64 9007199254740993 has more than 53 bits, which are all that can be reckoned with here");
  std::int64_t large = std::numeric_limits<std::int64_t>::max() - 1;
  EXPECT_EQ(
      error_of([&] { load_element(i64, &large); }),
      "the i64 9223372036854775806 has more than 53 bits, which are all that can be reckoned with here");
}

TEST(Dtype, TwoToThe63StandsForTheGreatestI64) {
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(integer_of(0x1p63), kGreatest);
  EXPECT_EQ(integer_of(-0x1p63), std::numeric_limits<std::int64_t>::min());
  std::int64_t memory = 5;
  store_element(i64, &memory, 0x1p63);
  EXPECT_EQ(memory, kGreatest);
  EXPECT_EQ(load_element(i64, &memory), 0x1p63);
}

}  // namespace
}  // namespace tessera
