#include "tile_core/passes/warp_dots.h"

#include <fmt/format.h>

#include "ops/operator.h"
#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using namespace dsl;
using test::Call;
using test::Setting;

const Target& ampere() {
  return Target::named("sm_80");
}

/// Tiles of a product, and which of its operands are contiguous along their free axes.
struct Shape {
  int m, n, k, warps;
  bool a_major = false, b_major = false;
  DType dtype = bf16;
  Precision precision = Precision::ieee;
};

/// out = a b^T
Program product(const Shape& s) {
  Builder p("product");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  using Dims = std::vector<Dim>;
  In a = p.in("a", s.dtype, s.a_major ? Dims{K, M} : Dims{M, K}),
     b = p.in("b", s.dtype, s.b_major ? Dims{K, N} : Dims{N, K});
  Out out = p.out("out", s.dtype, {M, N});
  Axis m = p.grid(M, s.m), n = p.grid(N, s.n);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, s.k))
    acc += dot(s.a_major ? a(k, m) : a(m, k), s.b_major ? b(k, n) : b(n, k), k, s.precision);
  out(m, n) = cast(s.dtype, acc);
  return p.finish();
}

const Call kCall{{{"M", 72}, {"N", 104}, {"K", 88}}};

PassContext context_of(const Program& program, const Call& call, const Setting& setting) {
  return {test::facts_of(program, call, setting), setting.schedule, setting.target};
}

std::string why_not(const Shape& shape, const Target& target = ampere()) {
  const Program program = product(shape);
  return why_not_mma(program,
                     context_of(program, kCall, {.schedule = {.warps = shape.warps}, .target = target}));
}

TEST(WarpDots, SayWhyTheyAreNot) {
  EXPECT_EQ(why_not({32, 64, 32, 4}), "");
  Target old = ampere();
  old.mma = false;
  EXPECT_EQ(why_not({32, 64, 32, 4}, old), "sm_80 has no mma");
  EXPECT_EQ(why_not({.m = 32, .n = 64, .k = 32, .warps = 4, .dtype = f32}),
            "the dot over 'k': its operands are f32 and f32, and its precision ieee");
  EXPECT_EQ(why_not({32, 64, 24, 4}), "the dot over 'k': it is 32 x 64 x 24, which are no multiples of 16");
  EXPECT_EQ(why_not({32, 72, 32, 4}), "the dot over 'k': it is 32 x 72 x 32, which are no multiples of 16");
  EXPECT_EQ(why_not({32, 32, 32, 8}), "8 warps cannot split its tiles in steps of 16 rows and columns");
}

/// On Hopper a schedule of warps asks for them; without one its warpgroups do the dots.
TEST(WarpDots, AreWhatAScheduleOfWarpsAsksFor) {
  const Program program = product({64, 64, 64, 0});
  const auto path = [&](const Schedule& schedule) {
    return dot_path_of(program, context_of(program, kCall, {.schedule = schedule}));
  };
  EXPECT_EQ(path({}), DotPath::wgmma);
  EXPECT_EQ(path({.warps = 4}), DotPath::mma);
  EXPECT_EQ(path({.warps = 32}), DotPath::fma);
}

WarpGrid grid_of(const Shape& shape) {
  const Program program = product(shape);
  return warp_grid_of(program,
                      context_of(program, kCall, {.schedule = {.warps = shape.warps}, .target = ampere()}));
}

TEST(WarpDots, OfAProductReadTheLeast) {
  EXPECT_EQ(grid_of({128, 128, 32, 4}), (WarpGrid{2, 2}));
  EXPECT_EQ(grid_of({128, 256, 32, 8}), (WarpGrid{2, 4}));
  EXPECT_EQ(grid_of({16, 64, 32, 4}), (WarpGrid{1, 4}));
  EXPECT_EQ(grid_of({128, 16, 32, 4}), (WarpGrid{4, 1}));
  EXPECT_EQ(grid_of({64, 64, 32, 0}), (WarpGrid{2, 1}));  // 64 elements a thread
  EXPECT_EQ(grid_of({16, 16, 16, 0}), (WarpGrid{1, 1}));
}

/// Every pass keeps the values, and the text gives them on every arrangement of the tensors.
void is_right(const Program& program, const Call& call, const Setting& setting, double tolerance) {
  SCOPED_TRACE(to_text(setting));
  const PassContext context = context_of(program, call, setting);
  ASSERT_EQ(dot_path_of(program, context), DotPath::mma) << why_not_mma(program, context);
  const Program ready = lower(program, context);
  EXPECT_TRUE(test::same_result(program, ready, call, tolerance));
  EXPECT_TRUE(test::emulates(program, call, setting, tolerance));
}

class WarpProduct : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, WarpProduct,
                         ::testing::Values(Shape{32, 64, 32, 4}, Shape{16, 128, 48, 4},
                                           Shape{64, 16, 16, 4, false, false, f16}, Shape{64, 96, 64, 2},
                                           Shape{96, 32, 32, 1, false, false, f16}),
                         [](const auto& info) {
                           const Shape& s = info.param;
                           return fmt::format("m{}_n{}_k{}_warps{}", s.m, s.n, s.k, s.warps);
                         });

TEST_P(WarpProduct, IsRightWhereverItsOperandsAreContiguous) {
  for (bool a_major : {false, true}) {
    for (bool b_major : {false, true}) {
      Shape shape = GetParam();
      shape.a_major = a_major, shape.b_major = b_major;
      is_right(product(shape), kCall, {.schedule = {.stages = 3, .warps = shape.warps}, .target = ampere()},
               0x1p-7);
    }
  }
}

class WarpProductInTf32 : public ::testing::TestWithParam<Precision> {
 protected:
  static void is_right_of(Shape shape) {
    shape.dtype = f32, shape.precision = GetParam();
    for (bool a_major : {false, true}) {
      for (bool b_major : {false, true}) {
        shape.a_major = a_major, shape.b_major = b_major;
        is_right(product(shape), kCall, {.schedule = {.stages = 3, .warps = shape.warps}, .target = ampere()},
                 0x1p-20);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Precisions, WarpProductInTf32, ::testing::Values(Precision::tf32, Precision::tf32x3),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(WarpProductInTf32, IsRightWhereverItsOperandsAreContiguous) {
  is_right_of({32, 64, 32, 4});
  is_right_of({16, 128, 48, 4});
}

/// Tiles that warps cannot split: threads round as the tensor cores' operands are rounded.
TEST_P(WarpProductInTf32, IsRightByFma) {
  const Program program = product({.m = 24, .n = 40, .k = 24, .dtype = f32, .precision = GetParam()});
  const Setting setting{.target = ampere()};
  ASSERT_EQ(dot_path_of(program, context_of(program, kCall, setting)), DotPath::fma);
  EXPECT_TRUE(test::emulates(program, kCall, setting, 0));
}

TEST_P(WarpProductInTf32, TakesTensorsThatNothingIsKnownOf) {
  for (test::Arrangement arrangement : test::kArrangements)
    is_right(product({.m = 32, .n = 64, .k = 32, .warps = 4, .dtype = f32, .precision = GetParam()}),
             {{{"M", 37}, {"N", 67}, {"K", 51}}},
             {.schedule = {.warps = 4}, .arrangement = arrangement, .target = ampere()}, 0x1p-20);
}

TEST(WarpDots, TakeTensorsThatNothingIsKnownOf) {
  for (test::Arrangement arrangement : test::kArrangements)
    is_right(product({32, 64, 32, 4}), {{{"M", 37}, {"N", 67}, {"K", 51}}},
             {.schedule = {.warps = 4}, .arrangement = arrangement, .target = ampere()}, 0x1p-7);
}

/// Of rows that begin at any element accesses of 16 bytes are made from the words around them; of rows that
/// begin at words, 4 bytes are copied asynchronously.
TEST(WarpDots, CopyRowsAsTheyBegin) {
  const Program program = product({32, 64, 32, 4});
  const Setting setting{.schedule = {.warps = 4}, .target = ampere()};
  for (const auto& [K, copy] : {std::pair(51, "copy_realigned"), {54, "copy_async"}, {56, "copy_async"}}) {
    const Call call{{{"M", 37}, {"N", 67}, {"K", K}}};
    const std::string text = to_text(lower(program, context_of(program, call, setting)));
    EXPECT_NE(text.find(fmt::format("{} a", copy)), std::string::npos) << text;
    EXPECT_NE(text.find(K == 54 ? "vector 2" : "vector 8"), std::string::npos) << text;
    is_right(program, call, setting, 0x1p-7);
  }
}

/// out = (a b^T) c, step by step of j.
Program chain(int i, bool c_major, Precision precision) {
  Builder p("chain");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D"), E = p.dim("E");
  using Dims = std::vector<Dim>;
  In a = p.in("a", f32, {I, D}), b = p.in("b", f32, {J, D}),
     c = p.in("c", f32, c_major ? Dims{J, E} : Dims{E, J});
  Out out = p.out("out", f32, {I, E});
  Axis rows = p.grid(I, i), d = p.all(D, 32), e = p.all(E, 64);
  Tile left = a(rows, d);
  Var acc = p.zeros(f32, {rows, e});
  for (Axis j : p.pipelined(J, 64)) {
    Tile products = dot(left, b(j, d), d, precision);
    acc += dot(products, c_major ? c(j, e) : c(e, j), j, precision);
  }
  out(rows, e) = acc;
  return p.finish();
}

/// In registers, or past the warps that share the columns.
TEST_P(WarpProductInTf32, MultipliesWhatAnotherGives) {
  for (int i : {64, 16}) {
    for (bool c_major : {false, true}) {
      is_right(chain(i, c_major, GetParam()), {{{"I", 72}, {"J", 100}, {"D", 28}, {"E", 60}}},
               {.schedule = {.warps = 4}, .target = ampere()}, 0x1p-18);
    }
  }
}

/// What the dots make of f32.
TEST(WarpDots, OfF32TakeTheirPrecision) {
  const auto of = [](Precision precision) {
    const Program program =
        product({.m = 32, .n = 64, .k = 32, .warps = 4, .dtype = f32, .precision = precision});
    return test::outputs(program, kCall).back();
  };
  const std::vector<double> exact = of(Precision::ieee), once = of(Precision::tf32),
                            thrice = of(Precision::tf32x3);
  EXPECT_TRUE(test::same_values("out", exact, once, 0x1p-10));
  EXPECT_FALSE(test::same_values("out", exact, once, 0x1p-14));
  EXPECT_TRUE(test::same_values("out", exact, thrice, 0x1p-21));
  EXPECT_NE(exact, thrice);
}

/// Attention of 16-bit elements in these tiles.
Program attention(int i, int j, int d, int e, bool causal, int mask) {
  std::vector<DType> dtypes(3, bf16);
  if (mask != 0) dtypes.push_back(mask == 1 ? boolean : bf16);
  dtypes.insert(dtypes.end(), {bf16, f32});
  Facts facts{.flags = {{"causal", causal ? 1 : 0}, {"mask", mask}}};
  for (DType dtype : dtypes) facts.tensors.push_back({.dtype = dtype});
  return ops::attention().program(facts, {{"i", i}, {"j", j}, {"d", d}, {"e", e}});
}

Call attention_call(std::int64_t I, std::int64_t J, std::int64_t D, std::int64_t E) {
  return {{{"B", 1}, {"H", 2}, {"G", 1}, {"I", I}, {"J", J}, {"D", D}, {"E", E}},
          {{"scale", 0.2}, {"diagonal", static_cast<double>(J - I)}, {"group", 2}}};
}

TEST(WarpDots, OfAttentionKeepTheirWeightsInRegisters) {
  for (int mask : {0, 1, 2}) {
    const Program program = attention(64, 32, 48, 32, mask == 0, mask);
    const Call call = attention_call(70, 90, 40, 24);
    const Setting setting{.schedule = {.stages = 2 + mask, .warps = 4}, .target = ampere()};
    EXPECT_EQ(warp_grid_of(program, context_of(program, call, setting)), (WarpGrid{4, 1}));
    is_right(program, call, setting, 0x1p-7);
  }
}

/// The maximum of a row crosses warps, and so do its weights.
TEST(WarpDots, OfFewRowsShareTheColumns) {
  const Program program = attention(16, 64, 32, 64, true, 0);
  const Call call = attention_call(3, 150, 24, 56);
  const Setting setting{.schedule = {.warps = 4}, .target = ampere()};
  EXPECT_EQ(warp_grid_of(program, context_of(program, call, setting)), (WarpGrid{1, 4}));
  is_right(program, call, setting, 0x1p-7);
}

}  // namespace
}  // namespace tessera
