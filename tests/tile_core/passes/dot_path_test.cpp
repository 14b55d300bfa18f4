#include "tile_core/passes/dot_path.h"

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/dsl/math.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using namespace dsl;
using test::Call;
using test::Setting;

/// out = a b^T, and what `more` makes of it in the loop.
struct Product {
  explicit Product(int rows) : m(p.grid(M, rows)), n(p.grid(N, 64)) {}

  Builder p{"product"};
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", bf16, {M, N}), sums = p.out("sums", f32, {N});
  Axis m, n;
};

const Call kCall{{{"M", 100}, {"N", 70}, {"K", 200}}};

std::string why_not(const Program& program, const Schedule& schedule = {}) {
  Setting setting{.schedule = schedule, .target = Target::named("sm_90a")};
  return why_not_wgmma(program, {test::facts_of(program, kCall, setting), schedule, setting.target});
}

Program plain(int rows) {
  Product t(rows);
  Var acc = t.p.zeros(f32, {t.m, t.n});
  for (Axis k : t.p.pipelined(t.K, 64)) acc += dot(t.a(t.m, k), t.b(t.n, k), k);
  t.out(t.m, t.n) = cast(bf16, acc);
  t.sums(t.n) = 0;
  return t.p.finish();
}

TEST(DotPath, KnowsHowLargeABoxIs) {
  EXPECT_EQ(why_not(plain(256)), "");
  EXPECT_EQ(why_not(plain(384)),
            "the dot over 'k': tensor 'a' has 384 lanes of a dim in a tile, and a box 256");
}

TEST(DotPath, ReducesNoRows) {
  Product t(64);
  Var acc = t.p.zeros(f32, {t.m, t.n});
  for (Axis k : t.p.pipelined(t.K, 64)) acc += dot(t.a(t.m, k), t.b(t.n, k), k);
  t.out(t.m, t.n) = cast(bf16, acc - reduce_max(acc, t.m));
  t.sums(t.n) = 0;
  EXPECT_EQ(why_not(t.p.finish()), "rows are reduced over 'm', across warps");
}

TEST(DotPath, HasNoLoopBesideADot) {
  Product t(64);
  Var acc = t.p.zeros(f32, {t.m, t.n});
  for (Axis k : t.p.pipelined(t.K, 64)) {
    Var scale = t.p.zeros(f32, {t.m});
    for (Axis j : t.p.sequential(t.K, 16)) scale += reduce_sum(t.a(t.m, j), j);
    acc = acc * scale + dot(t.a(t.m, k), t.b(t.n, k), k);
  }
  t.out(t.m, t.n) = cast(bf16, acc);
  t.sums(t.n) = 0;
  EXPECT_EQ(why_not(t.p.finish()), "a loop stands in the loop of a dot");
}

TEST(DotPath, HasBoundsThatEveryRoleCanMake) {
  Product t(64);
  Var acc = t.p.zeros(f32, {t.m, t.n});
  for (Axis k : t.p.pipelined(t.K, 64, 0, reduce_max(t.m.index() + 1, t.m)))
    acc += dot(t.a(t.m, k), t.b(t.n, k), k);
  t.out(t.m, t.n) = cast(bf16, acc);
  t.sums(t.n) = 0;
  EXPECT_EQ(why_not(t.p.finish()), "the loop over 'k' has a bound that is made from a tile");
}

TEST(DotPath, HasASecondOperandOfItsOwn) {
  Product t(64);
  Var acc = t.p.zeros(f32, {t.m, t.n}), sum = t.p.zeros(f32, {t.n});
  for (Axis k : t.p.pipelined(t.K, 64)) {
    Tile right = t.b(t.n, k);
    acc += dot(t.a(t.m, k), right, k);
    sum += reduce_sum(right, k);
  }
  t.out(t.m, t.n) = cast(bf16, acc);
  t.sums(t.n) = sum;
  EXPECT_EQ(why_not(t.p.finish()), "the dot over 'k': its second operand is used elsewhere, too");
}

/// A dot does not trail where its operand is made from what another iteration has carried to it.
TEST(DotPath, KeepsValuesOfOperandsThatReadCarriedTiles) {
  Builder p("carried");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D");
  In query = p.in("query", bf16, {I, D}), key = p.in("key", bf16, {J, D}),
     value = p.in("value", bf16, {J, D});
  Out out = p.out("out", bf16, {I, D});
  Axis i = p.grid(I, 64), d = p.all(D, 64), e = p.all(D, 64);
  Var acc = p.zeros(f32, {i, e}), top = p.zeros(f32, {i});
  Tile rows = query(i, d);
  for (Axis j : p.pipelined(J, 32)) {
    Tile scores = dot(rows, key(j, d), d);
    acc += dot(cast(bf16, exp2(min(scores - top, 4))), value(j, e), j);
    top = max(top, reduce_max(scores, j));
  }
  out(i, e) = cast(bf16, acc);
  Program program = p.finish();
  const Call call{{{"I", 70}, {"J", 100}, {"D", 64}}};
  Setting setting{.target = Target::named("sm_90a")};
  PassContext context{test::facts_of(program, call, setting), setting.schedule, setting.target};
  ASSERT_EQ(why_not_wgmma(program, context), "");
  EXPECT_TRUE(test::same_result(program, lower(program, context), call, 0x1p-7));
}

}  // namespace
}  // namespace tessera
