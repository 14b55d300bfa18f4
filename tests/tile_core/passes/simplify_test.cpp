#include <gtest/gtest.h>

#include "tile_core/dsl/math.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

using namespace dsl;

/// The lines of a simplified program that compute: out = f(x, y, z), where x and y are tiles and z is a row.
template <typename Function>
std::string simplified(const Function& f) {
  Builder p("p");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", f32, {M, N}), y = p.in("y", f32, {M, N}), z = p.in("z", f32, {M});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, 4), n = p.grid(N, 4);
  out(m, n) = f(Tile(x(m, n)), Tile(y(m, n)), Tile(z(m)));
  Program program = simplify(p.finish(), {.target = Target::named("sm_80")});
  std::string lines;
  for (const Inst& inst : program.body.insts) {
    if (is_pointwise(inst.op)) lines += to_text(program, inst) + "\n";
  }
  return lines;
}

TEST(Simplify, ContractsAProductThatIsAddedOrSubtracted) {
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile z) { return x * y + z; }),
            "%3: f32[m:4, n:4] = fma %0, %1, %2\n");
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile z) { return z + x * y; }),
            "%3: f32[m:4, n:4] = fma %1, %2, %0\n");
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile z) { return x * y - z; }),
            "%3: f32[m:4] = neg %2\n%4: f32[m:4, n:4] = fma %0, %1, %3\n");
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile z) { return z - x * y; }),
            "%3: f32[m:4, n:4] = neg %1\n%4: f32[m:4, n:4] = fma %3, %2, %0\n");
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile) { return x * y - 2; }),
            "%3: f32[m:4, n:4] = fma %0, %1, %2\n");
}

TEST(Simplify, LeavesAProductThatOthersTakeOrThatIsARowOfTheSum) {
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile z) {
              Tile product = x * y;
              return max(product + z, product);
            }),
            "%2: f32[m:4, n:4] = mul %0, %1\n%4: f32[m:4, n:4] = add %2, %3\n"
            "%5: f32[m:4, n:4] = max %4, %2\n");
  EXPECT_EQ(simplified([](Tile x, Tile, Tile z) { return x + z * z; }),
            "%2: f32[m:4] = mul %1, %1\n%3: f32[m:4, n:4] = add %0, %2\n");
}

TEST(Simplify, RoundsAProductOfOtherDtypes) {
  EXPECT_EQ(simplified([](Tile x, Tile y, Tile) { return cast(f32, cast(i64, x) * cast(i64, y) + 1); }),
            "%1: i64[m:4, n:4] = cast %0\n%3: i64[m:4, n:4] = cast %2\n%4: i64[m:4, n:4] = mul %1, %3\n"
            "%6: i64[m:4, n:4] = add %4, %5\n%7: f32[m:4, n:4] = cast %6\n");
}

/// What is added twice is twice as much.
TEST(Simplify, SharesNoAdditionsToOutputs) {
  Builder p("p");
  Dim N = p.dim("N");
  In x = p.in("x", f32, {N});
  Out out = p.out("out", f32, {N});
  Axis n = p.grid(N, 4);
  out(n) += x(n);
  out(n) += x(n);
  const Program program = simplify(p.finish(), {.target = Target::named("sm_80")});
  std::string lines;
  for (const Inst& inst : program.body.insts) lines += to_text(program, inst) + "\n";
  EXPECT_EQ(lines, "%0: f32[n:4] = load x(n)\naccumulate out(n), %0\naccumulate out(n), %0\n");
}

}  // namespace
}  // namespace tessera
