#include "tests/support/same_bits.h"

#include <gtest/gtest.h>
#include <limits>

namespace tessera::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr at::ScalarType kFloats[] = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};

at::Tensor of(double value, at::ScalarType dtype) {
  return at::full({3, 2}, value, dtype);
}

TEST(SameBits, OfInfinitiesZerosAndNans) {
  for (const at::ScalarType dtype : kFloats) {
    SCOPED_TRACE(c10::toString(dtype));
    const at::Tensor largest = at::nan_to_num(of(kInfinity, dtype));
    for (const double value : {0.0, -0.0, 1.5, kInfinity, -kInfinity, kNaN})
      EXPECT_TRUE(same_bits(of(value, dtype), of(value, dtype))) << value;
    EXPECT_FALSE(same_bits(of(kInfinity, dtype), largest));
    EXPECT_FALSE(same_bits(of(kInfinity, dtype), of(-kInfinity, dtype)));
    EXPECT_FALSE(same_bits(of(0.0, dtype), of(-0.0, dtype)));
    EXPECT_FALSE(same_bits(of(kNaN, dtype), of(0, dtype)));
    EXPECT_FALSE(same_bits(of(0, dtype), of(kNaN, dtype)));
    EXPECT_TRUE(same_bits(of(kNaN, dtype), of(-kNaN, dtype)));
  }
}

TEST(SameBits, OfOneElementThatDiffers) {
  for (const at::ScalarType dtype : kFloats) {
    const at::Tensor a = of(kNaN, dtype), b = of(kNaN, dtype);
    a.select(0, 2).fill_(1), b.select(0, 2).fill_(1);
    EXPECT_TRUE(same_bits(a, b));
    b[2][1].fill_(1 + (dtype == at::kBFloat16 ? 0x1p-7 : 0x1p-10));
    EXPECT_FALSE(same_bits(a, b));
  }
}

TEST(SameBits, OfDtypesAndSizes) {
  EXPECT_FALSE(same_bits(of(1, at::kFloat), of(1, at::kDouble)));
  EXPECT_FALSE(same_bits(of(1, at::kFloat), of(1, at::kFloat).t()));
  EXPECT_TRUE(same_bits(of(1, at::kLong), of(1, at::kLong)));
  EXPECT_FALSE(same_bits(of(1, at::kLong), of(2, at::kLong)));
  EXPECT_TRUE(same_bits(of(1, at::kBool), of(7, at::kBool)));
}

TEST(SameBits, OfStridesAndOfNothing) {
  const at::Tensor a = at::arange(12, at::kFloat).view({3, 4}).t();
  EXPECT_TRUE(same_bits(a, a.contiguous()));
  EXPECT_TRUE(same_bits(at::empty({0, 3}), at::empty({0, 3})));
  EXPECT_TRUE(same_bits(at::scalar_tensor(2), at::scalar_tensor(2)));
}

TEST(SameBits, OfComplexNumbers) {
  for (const at::ScalarType dtype : {at::kComplexHalf, at::kComplexFloat, at::kComplexDouble}) {
    const at::Tensor a = at::full({2}, c10::complex<double>(0, kInfinity), dtype);
    EXPECT_TRUE(same_bits(a, a.clone()));
    EXPECT_FALSE(same_bits(a, a.conj()));
    EXPECT_TRUE(same_bits(a.conj(), a.conj().resolve_conj()));
    EXPECT_TRUE(same_bits(at::imag(a.conj()), -at::imag(a)));  // a view that torch negates when it reads it
    EXPECT_FALSE(same_bits(a, at::full({2}, c10::complex<double>(-0.0, kInfinity), dtype)));
  }
}

}  // namespace
}  // namespace tessera::test
