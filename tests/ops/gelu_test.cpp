#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "tile_core/dsl/math.h"
#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"

/// The forms of GELU against float64, swept over what a layer sees; beyond, they are 0 or the argument.
namespace tessera {
namespace {

using namespace dsl;
using Form = Tile (*)(const Operand&, DType);
using Values = std::vector<double>;

Values activated(Form form, DType result, const Values& x) {
  Builder p("gelu");
  Dim M = p.dim("M");
  In in = p.in("in", f32, {M});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 1024);
  out(m) = form(in(m), result);
  auto size = static_cast<std::int64_t>(x.size());
  Buffer from(f32, {size}), to(f32, {size});
  from.set(x);
  interpret(p.finish(), {from.view(), to.view()}, {});
  return to.get();
}

double exact(double x) {
  return x / 2 * std::erfc(-x / std::sqrt(2));
}
double exact_tanh(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

Values sweep() {
  Values x;
  for (int i = -9 * 512; i <= 9 * 512; ++i) x.push_back(i / 512.0);
  return x;
}

struct Worst {
  double absolute = 0;
  double relative_above_minus_3 = 0;
};

Worst worst_of(Form form, DType result, double (*reference)(double)) {
  Values x = sweep(), y = activated(form, result, x);
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double expected = reference(x[i]), error = std::abs(y[i] - expected);
    worst.absolute = std::max(worst.absolute, error);
    if (x[i] > -3 && expected != 0)
      worst.relative_above_minus_3 = std::max(worst.relative_above_minus_3, error / std::abs(expected));
  }
  return worst;
}

TEST(Gelu, IsExactToFloats) {
  EXPECT_LT(worst_of(gelu, f32, exact).absolute, 1e-6);
  EXPECT_LT(worst_of(gelu, f32, exact).relative_above_minus_3, 1e-6);
  EXPECT_LT(worst_of(gelu_tanh, f32, exact_tanh).absolute, 1e-6);
}

/// Half a unit in the last place of bf16 is 2e-3 of a value.
TEST(Gelu, OfBf16IsFarBelowItsRounding) {
  EXPECT_LT(worst_of(gelu, bf16, exact).absolute, 5e-6);
  EXPECT_LT(worst_of(gelu, bf16, exact).relative_above_minus_3, 6e-4);
  EXPECT_LT(worst_of(gelu_tanh, bf16, exact_tanh).absolute, 2e-6);
  EXPECT_LT(worst_of(gelu_tanh, bf16, exact_tanh).relative_above_minus_3, 6e-4);
}

TEST(Gelu, IsRightAtItsEnds) {
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (Form form : {Form(gelu), Form(gelu_tanh)}) {
    Values ends = activated(form, bf16, {-100, 100, -0.0, 1e30});
    EXPECT_EQ(ends, (Values{0, 100, 0, 1e30f}));
    EXPECT_EQ(activated(form, bf16, {kInfinity}), Values{kInfinity});
    EXPECT_TRUE(std::isnan(activated(form, bf16, {std::nan("")}).front()));
  }
}

}  // namespace
}  // namespace tessera
