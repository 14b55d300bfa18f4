#include <cmath>
#include <limits>

#include "tessera/ops.h"
#include "tests/registration/support.h"

// Values of add, linear and softmax on the CPU: ATen's, and the interpreter's under policy tile. Names that
// begin with B are cases of public bug reports.
namespace tessera {
namespace {

using at::Tensor;
using testing::kFloats;
using testing::tolerance_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

class Values : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, Values, testing::kPolicies, testing::name_of_policy);

Tensor linear_in_fp64(const Tensor& x, const Tensor& w, const Tensor& b = {}) {
  return at::linear(x.to(at::kDouble), w.to(at::kDouble),
                    b.defined() ? std::optional(b.to(at::kDouble)) : std::nullopt);
}

// ---- add ----

TEST_P(Values, AddBroadcastsAndPromotes) {
  for (const at::ScalarType dtype : kFloats) {
    const Tensor x = at::randn({4, 1, 5}).to(dtype), y = at::randn({3, 1}).to(at::kBFloat16);
    const Tensor got = tessera::add(x, y), expected = at::add(x, y);
    EXPECT_EQ(got.scalar_type(), expected.scalar_type());
    EXPECT_EQ(got.strides(), expected.strides());
    EXPECT_TRUE(at::equal(got, expected));
  }
}

// 1 + 2^-8 is no bf16: it is rounded to one before it is added to.
TEST_P(Values, AddRoundsANumberOfMoreDigitsFirst) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const Tensor x = at::full({9}, 0x1p-13, dtype) * at::arange(9).to(dtype);
    for (const double number : {1 + 0x1p-8, 1 + 0x1p-11, 3.14159, 70000.0}) {
      for (const at::ScalarType wide : {at::kFloat, at::kHalf, at::kBFloat16}) {
        const Tensor scalar = at::scalar_tensor(number, wide);
        EXPECT_TRUE(at::equal(tessera::add(x, scalar), at::add(x, scalar))) << dtype << number << wide;
        EXPECT_TRUE(at::equal(tessera::add(scalar, x), at::add(scalar, x))) << dtype << number << wide;
      }
    }
  }
}

TEST_P(Values, AddHasTheStridesOfAten) {
  const std::vector<Tensor> views = {at::randn({2, 3, 4}),
                                     at::randn({4, 3, 2}).permute({2, 1, 0}),
                                     at::randn({3, 2, 4}).transpose(0, 1),
                                     at::randn({2, 3, 8}).slice(2, 0, 8, 2),
                                     at::randn({3, 1}).expand({2, 3, 4}),
                                     at::randn({1, 3, 1}),
                                     at::randn({4}),
                                     at::randn({2, 4, 3}).transpose(1, 2),
                                     at::randn({1, 2, 1}).transpose(0, 1),  // strides along dims of size 1
                                     at::randn({1, 3, 2}).slice(2, 0, 1),
                                     at::randn({1, 1, 4}).slice(2, 1, 2),
                                     at::randn({3, 4}).slice(1, 1, 2),
                                     at::randn({1, 3}).permute({1, 0}),
                                     at::randn({1, 1, 1}).expand({1, 1, 4}),
                                     at::randn({4, 1, 1}).permute({2, 1, 0}),
                                     at::randn({})};
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf}) {  // promoted on the CPU: ATen copies it first
    for (const Tensor& view : views) {
      const Tensor x = at::randn({64}).to(dtype).as_strided(view.sizes(), view.strides());
      for (const Tensor& y : views) {
        const Tensor got = tessera::add(x, y), expected = at::add(x, y);
        EXPECT_EQ(got.strides(), expected.strides()) << dtype << x.strides() << y.strides();
        EXPECT_TRUE(at::equal(got, expected)) << dtype << x.strides() << y.strides();
      }
    }
  }
}

TEST_P(Values, AddOfEmptyTensorsHasTheStridesOfAten) {
  const std::vector<Tensor> views = {at::empty({94, 21, 0}), at::empty({94, 21, 0}).slice(2, 0, 0, 2),
                                     at::empty({1, 21, 0}), at::empty({94, 42, 0}).slice(1, 0, 42, 2),
                                     at::empty({0, 21, 94}).permute({2, 1, 0})};
  for (const Tensor& x : views) {
    for (const Tensor& y : views)
      EXPECT_EQ(tessera::add(x, y).strides(), at::add(x, y).strides()) << x.strides() << y.strides();
  }
}

// ---- linear, linear_gelu ----

TEST_P(Values, LinearOfEveryRank) {
  for (const at::ScalarType dtype : kFloats) {
    const Tensor w = at::randn({5, 7}).to(dtype), b = at::randn({5}).to(dtype);
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{7}, {3, 7}, {2, 3, 7}, {2, 1, 3, 7}}) {
      const Tensor x = at::randn(sizes).to(dtype);
      EXPECT_NEAR_TENSOR(tessera::linear(x, w, b), linear_in_fp64(x, w, b), tolerance_of(dtype));
      EXPECT_NEAR_TENSOR(tessera::linear(x, w), linear_in_fp64(x, w), tolerance_of(dtype));
      EXPECT_TRUE(tessera::linear(x, w).is_contiguous());
    }
  }
}

TEST_P(Values, B07_EverySmallSize) {
  for (int64_t m = 1; m <= 16; m += 5) {
    for (int64_t n = 1; n <= 16; n += 3) {
      for (int64_t k = 1; k <= 16; k += 5) {
        const Tensor x = at::randn({m, k}), w = at::randn({n, k}), b = at::randn({n});
        EXPECT_NEAR_TENSOR(tessera::linear_gelu(x, w, b), at::gelu(linear_in_fp64(x, w, b)), 1e-5)
            << m << " " << n << " " << k;
      }
    }
  }
}

TEST_P(Values, LinearWithoutProductsIsTheBias) {
  const Tensor b = at::randn({3});
  EXPECT_TRUE(at::equal(tessera::linear(at::empty({2, 0}), at::empty({3, 0}), b), b.expand({2, 3})));
  EXPECT_TRUE(at::equal(tessera::linear(at::empty({2, 0}), at::empty({3, 0})), at::zeros({2, 3})));
}

TEST_P(Values, B13_ChunksAreReadByTheirStrides) {
  const Tensor big = at::randn({3, 7, 80}), w = at::randn({6, 40});
  for (const Tensor& x : big.chunk(2, -1)) {
    EXPECT_TRUE(at::equal(tessera::linear_gelu(x, w), tessera::linear_gelu(x.contiguous(), w)));
    EXPECT_TRUE(at::equal(tessera::softmax(x, -1), tessera::softmax(x.contiguous(), -1)));
  }
}

TEST_P(Values, B21_RowStridesOfAnyMultiple) {
  const Tensor w = at::randn({5, 43}).slice(1, 1, 42), x = at::randn({4, 41});
  EXPECT_NEAR_TENSOR(tessera::linear_gelu(x, w), at::gelu(linear_in_fp64(x, w)), 1e-5);
}

TEST_P(Values, B22_BiasGoesAlongTheRows) {
  const Tensor b = at::arange(8, at::kFloat);
  const Tensor got = tessera::linear_gelu(at::eye(8), at::zeros({8, 8}), b);
  for (int64_t row = 0; row < 8; ++row) EXPECT_NEAR_TENSOR(got[row], at::gelu(b.to(at::kDouble)), 1e-6);
}

TEST_P(Values, B25_GeluOfInfinities) {
  for (const auto* approximate : {"none", "tanh"}) {
    const auto at = [&](double x) {
      return tessera::linear_gelu(at::full({1, 1}, x), at::ones({1, 1}), at::zeros({1}), approximate)
          .item<double>();
    };
    const double top = at(kInf), bottom = at(-kInf);
    EXPECT_TRUE(top == kInf || std::isnan(top)) << top;        // ATen's erf form on some CPUs gives NaN
    EXPECT_TRUE(bottom == 0 || std::isnan(bottom)) << bottom;  // the limit, or ATen's NaN
    EXPECT_TRUE(std::isnan(at(std::nan(""))));
  }
}

TEST_P(Values, B26_TanhGeluFarFromZero) {
  const Tensor x =
      at::tensor({8.0, 10.0, 13.25, -13.25, 50.0, -50.0, 88.0, -88.0, 1e4, -1e4, 1e30, -1e30}).to(at::kFloat);
  const Tensor got =
      tessera::linear_gelu(x.unsqueeze(1), at::ones({1, 1}), at::zeros({1}), "tanh").squeeze(1);
  const Tensor expected = at::where(x > 0, x, at::zeros_like(x));
  EXPECT_NEAR_TENSOR(got, expected, 1e-6);
}

TEST_P(Values, B27_NegativeTailOfGelu) {
  const Tensor x = at::tensor({-3.0, -4.0, -5.0, -6.0}).to(at::kFloat).unsqueeze(1);
  const auto got = [&](const char* approximate) {
    return tessera::linear_gelu(x, at::ones({1, 1}), at::zeros({1}), approximate);
  };
  const Tensor exact = at::tensor({-4.0496941e-3, -1.2668497e-4, -1.4332579e-6, -5.92e-9}).unsqueeze(1);
  const Tensor tanh = at::tensor({-3.6373921e-3, -7.0245948e-5, -2.2917962e-7, -8.44e-11}).unsqueeze(1);
  EXPECT_LE((got("none") - exact).abs().max().item<double>(), 6e-7);  // ATen: 5.4e-7
  EXPECT_LE((got("tanh") - tanh).abs().max().item<double>(), 5e-7);
}

TEST_P(Values, B31_Fp32ProductsKeepTheirBits) {
  const Tensor x = at::full({1, 16}, 1 + std::exp2(-12)), w = at::ones({1, 16});
  EXPECT_EQ(tessera::linear(x, w).item<float>(), 16.00390625F);
}

// ---- softmax ----

/// Where all products are alike, so is what each addition rounds: it adds up.
TEST_P(Values, LongSumsOfEqualProducts) {
  for (const int64_t depth : {118, 1000}) {
    const Tensor x = at::full({2, depth}, 1.3701), w = at::full({3, depth}, 1.3913);
    const Tensor exact = at::linear(x.to(at::kDouble), w.to(at::kDouble));
    EXPECT_NEAR_TENSOR(tessera::linear(x, w), exact, 1e-6 * exact[0][0].item<double>()) << depth;
  }
}

TEST_P(Values, SoftmaxOverEveryDimOfEveryLayout) {
  const Tensor base = at::randn({2, 3, 4, 5});
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {2, 0, 3, 1}}) {
    const Tensor x = base.permute(order);
    for (int64_t dim = -4; dim < 4; ++dim) {
      const Tensor got = tessera::softmax(x, dim);
      EXPECT_TRUE(got.is_contiguous());
      EXPECT_NEAR_TENSOR(got, at::softmax(x.to(at::kDouble), dim), 1e-6);
    }
  }
}

TEST_P(Values, SoftmaxToAnotherDtype) {
  for (const at::ScalarType from : kFloats) {
    for (const at::ScalarType to : kFloats) {
      const Tensor x = at::randn({3, 40}).to(from), got = tessera::softmax(x, 1, to);
      EXPECT_EQ(got.scalar_type(), to);
      EXPECT_NEAR_TENSOR(got, at::softmax(x.to(to).to(at::kDouble), 1), tolerance_of(to));
    }
  }
  const testing::WithPolicy native(Policy::automatic);
  EXPECT_NEAR_TENSOR(tessera::softmax(at::ones({4}, at::kInt), 0, at::kFloat), at::full({4}, 0.25), 0);
}

/// 1000.3 is 1000.5 in f16, and 1000 in bf16: as scores they are rounded before anything else.
TEST_P(Values, SoftmaxRoundsToAnotherDtypeFirst) {
  for (const at::ScalarType to : {at::kHalf, at::kBFloat16}) {
    for (const int64_t n : {3, 20000}) {  // a row in registers, and one that streams
      Tensor x = at::full({2, n}, -2000.0);
      x.select(1, 0).fill_(1000.3);
      x.select(1, 1).fill_(1000.2);
      EXPECT_NEAR_TENSOR(tessera::softmax(x, 1, to), at::softmax(x.to(to).to(at::kDouble), 1), 1e-3) << to;
    }
  }
}

TEST_P(Values, B08_EveryRowLength) {
  for (int64_t n = 1; n < 140; n += 9) {
    const Tensor x = at::randn({3, n}).to(at::kHalf);
    EXPECT_NEAR_TENSOR(tessera::softmax(x, 1), at::softmax(x.to(at::kDouble), 1), 2e-3) << n;
  }
}

TEST_P(Values, B29_RowSumsDoNotSaturate) {
  const auto all = [](const Tensor& got, double value) { return at::equal(got, at::full_like(got, value)); };
  EXPECT_TRUE(all(tessera::softmax(at::zeros({1, 4096}, at::kHalf), 1), 1 / 4096.0));
  EXPECT_TRUE(all(tessera::softmax(at::zeros({1, 512}, at::kBFloat16), 1), 1 / 512.0));
  EXPECT_TRUE(all(tessera::softmax(at::zeros({512, 1}, at::kBFloat16), 0), 1 / 512.0));
}

TEST_P(Values, B35_OneFiniteValueAmongInfinities) {
  for (const int64_t place : {0, 1, 127, 128, 2000, 4999}) {
    const Tensor x = at::full({5000}, -kInf), expected = at::zeros({5000});
    x[place] = 10;
    expected[place] = 1;
    EXPECT_TRUE(at::equal(tessera::softmax(x, 0), expected)) << place;
  }
}

TEST_P(Values, B36_B37_BadRowsStayAlone) {
  for (const int64_t dim : {0, 1}) {
    const Tensor rows = at::randn({4, 5});
    rows[1].fill_(-kInf);
    rows[2][3] = kInf;
    const Tensor x = dim == 1 ? rows : rows.t().contiguous();
    const Tensor got = dim == 1 ? tessera::softmax(x, dim) : tessera::softmax(x, dim).t();
    const Tensor expected = at::softmax(rows.to(at::kDouble), 1);
    EXPECT_TRUE(got.slice(0, 1, 3).isnan().all().item<bool>());
    EXPECT_NEAR_TENSOR(got[0], expected[0], 1e-6);
    EXPECT_NEAR_TENSOR(got[3], expected[3], 1e-6);
  }
}

TEST_P(Values, B39_LargeCommonOffset) {
  const Tensor x = (at::rand({3, 1, 21, 2}) * 520 - 20260).to(at::kHalf);
  EXPECT_NEAR_TENSOR(tessera::softmax(x, 2), at::softmax(x.to(at::kDouble), 2), 2e-3);
}

TEST_P(Values, B69_SoftmaxOfEmptyTensors) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{10, 0}, {0, 2}, {4, 0, 0}}) {
    for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim)
      EXPECT_EQ(tessera::softmax(at::empty(sizes), dim).sizes(), at::IntArrayRef(sizes));
  }
}

TEST_P(Values, B70_SoftmaxOfANumber) {
  for (const int64_t dim : {0, -1}) {
    const Tensor got = tessera::softmax(at::scalar_tensor(2.0), dim);
    EXPECT_EQ(got.dim(), 0);
    EXPECT_EQ(got.item<double>(), 1);
  }
}

TEST_P(Values, B67_LinearOfNoRows) {
  EXPECT_EQ(tessera::linear_gelu(at::empty({0, 21}), at::empty({4, 21})).sizes(), at::IntArrayRef({0, 4}));
  EXPECT_EQ(tessera::linear_gelu(at::empty({2, 0, 8}), at::empty({1, 8}), at::empty({1})).sizes(),
            at::IntArrayRef({2, 0, 1}));
  EXPECT_EQ(tessera::linear(at::empty({2, 8}), at::empty({0, 8})).sizes(), at::IntArrayRef({2, 0}));
}

TEST_P(Values, B88_OutputsAreNewMemory) {
  const Tensor x = at::ones({1, 1, 1, 1}), before = x.clone();
  for (const Tensor& y :
       {tessera::add(x, x), tessera::linear(x, at::ones({1, 1})), tessera::linear_gelu(x, at::ones({1, 1})),
        tessera::softmax(x, 3), tessera::scaled_dot_product_attention(x, x, x),
        std::get<0>(tessera::flash_attention(x, x, x))}) {
    EXPECT_FALSE(y.is_alias_of(x));
    y.fill_(7);
    EXPECT_TRUE(at::equal(x, before));
  }
}

TEST(NativeValues, B72_Fp64OnTheCpu) {
  const Tensor x = at::randn({2, 5, 8}, at::kDouble);
  EXPECT_NEAR_TENSOR(tessera::linear(x, at::ones({3, 8}, at::kDouble)), x.sum(-1, true).expand({2, 5, 3}),
                     1e-12);
  EXPECT_NEAR_TENSOR(tessera::softmax(x, 1), at::softmax(x, 1), 1e-12);
}

}  // namespace
}  // namespace tessera
