#include <array>

#include "ops/operator.h"
#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/cluster.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using test::Call;
using test::Case;
using test::Setting;

class Roles : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Roles, ::testing::ValuesIn(test::role_cases()),
                         [](const auto& info) { return info.param.name; });

/// Every pass but those that say so keeps values bitwise, at every stage and under all orders of roles; sums
/// of tiles as they come, to within their rounding.
void keeps_values(const Case& c, const Call& call, const Schedule& schedule) {
  Setting setting{.schedule = schedule};
  SCOPED_TRACE(to_text(setting));
  PassContext context{test::facts_of(c.program, call, setting), schedule, setting.target};
  ASSERT_EQ(why_not_wgmma(c.program, context), "");
  Program before = c.program;
  lower(c.program, context, [&](const Pass& pass, const Program& after) {
    const bool reorders = std::string_view(pass.name) == "simplify" || test::accumulates(c.program);
    EXPECT_TRUE(test::same_result(before, after, call, reorders ? c.tolerance : 0)) << pass.name;
    before = after;
  });
  EXPECT_TRUE(has_roles(before));
}

TEST_P(Roles, KeepValues) {
  for (const Call& call : GetParam().calls) keeps_values(GetParam(), call, {});
}

TEST_P(Roles, KeepValuesUnderOtherSchedules) {
  const Case& c = GetParam();
  const Call& call = c.calls.front();
  keeps_values(c, call, {.stages = 2, .grid = Grid::once});
  keeps_values(c, call, {.stages = 1, .lag = Lag::none});
  keeps_values(c, call, {.stages = 1, .grid = Grid::once});
  keeps_values(c, call, {.stages = 3, .raster = 2});
  keeps_values(c, call, {.stages = 2, .order = TileOrder::plain});
}

/// acc[i, e] is divided by what a reduction makes of it, before the dot of an iteration adds to it.
Program divided_by_its_largest() {
  using namespace dsl;
  Builder p("divided_by_its_largest");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D"), E = p.dim("E");
  In q = p.in("q", bf16, {I, D}), k = p.in("k", bf16, {J, D}), v = p.in("v", bf16, {J, E});
  Out out = p.out("out", f32, {I, E});
  Axis i = p.grid(I, 128), d = p.all(D, 64), e = p.all(E, 64);
  Tile rows = q(i, d);
  Var acc = p.zeros(f32, {i, e});
  for (Axis j : p.pipelined(J, 64)) {
    Tile weights = exp2(dot(rows, k(j, d), d) * 0.01);
    acc = acc / (reduce_max(abs(acc), e) + 1) + dot(cast(bf16, weights), v(j, e), j);
  }
  out(i, e) = acc;
  return p.finish();
}

/// What a loop carries to a dot feeds another dot, on which the first depends.
Program fed_back() {
  using namespace dsl;
  Builder p("fed_back");
  Dim I = p.dim("I"), J = p.dim("J"), E = p.dim("E");
  In k = p.in("k", bf16, {J, E}), v = p.in("v", bf16, {J, E});
  Out out = p.out("out", f32, {I, E});
  Axis i = p.grid(I, 128), e = p.all(E, 64);
  Var acc = p.full(f32, {i, e}, 1);
  for (Axis j : p.pipelined(J, 64)) {
    Tile weights = exp2(dot(cast(bf16, acc), k(j, e), e) * 0.01);
    acc = acc * 0.01 + dot(cast(bf16, weights), v(j, e), j);
  }
  out(i, e) = acc;
  return p.finish();
}

/// Whatever stands between the dot of an iteration and that of the next, in the loops that trail and in those
/// that may not.
TEST(RolesLag, KeepsTheOrderOfWhatMakesAnAccumulator) {
  const Call call{{{"I", 150}, {"J", 200}, {"D", 56}, {"E", 64}}};
  for (Program (*make)() : {divided_by_its_largest, fed_back}) {
    const Case c{"accumulator", make(), {call}, 0x1p-7};
    for (Lag lag : {Lag::automatic, Lag::none}) keeps_values(c, call, {.stages = 3, .lag = lag});
  }
}

/// Two sums of one operand that is computed, so that it is in registers while dots of two iterations want it.
Program of_computed_rows() {
  using namespace dsl;
  Builder p("of_computed_rows");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In x = p.in("x", f32, {M, K}), w1 = p.in("w1", bf16, {N, K}), w2 = p.in("w2", bf16, {N, K});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, 64), n = p.grid(N, 16);
  Var gate = p.zeros(f32, {m, n}), value = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 16)) {
    Tile rows = cast(bf16, max(x(m, k), 0));
    gate += dot(rows, w1(n, k), k);
    value += dot(rows, w2(n, k), k);
  }
  out(m, n) = gate * value;
  return p.finish();
}

TEST(RolesOperands, InRegistersAreNotWrittenUnderADot) {
  const Call call{{{"M", 72}, {"N", 24}, {"K", 56}}};
  for (int stages : {0, 1, 3})
    keeps_values({"of_computed_rows", of_computed_rows(), {call}, 0x1p-7}, call, {.stages = stages});
}

/// Tiles that no dot has a part in beside one: copied, over a row alone, reduced along what is not
/// contiguous, and over one more axis; with as many rows as give each of some groups its own.
Program beside_a_dot(int rows) {
  using namespace dsl;
  Builder p("beside_a_dot");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), B = p.dim("B");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K}), x = p.in("x", f32, {M, N}),
     y = p.in("y", i64, {N, M}), z = p.in("z", f16, {M});
  Out out = p.out("out", f32, {M, N, B}), copy = p.out("copy", f16, {M, N}), row = p.out("row", f32, {M}),
      least = p.out("least", i64, {M});
  Axis m = p.grid(M, rows), n = p.all(N, 40), batch = p.grid(B, 1);
  Var sum = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 32)) sum += dot(a(m, k), b(n, k), k);
  out(m, n, batch) = broadcast(sum, {batch});
  copy(m, n) = cast(f16, x(m, n) * 2);
  row(m) = exp2(z(m));
  least(m) = reduce_min(y(n, m), n);
  return p.finish();
}

TEST(RolesLayouts, OfTilesBesideADotAreOfTheGroups) {
  const Call call{{{"M", 200}, {"N", 40}, {"K", 40}, {"B", 1}}};
  for (int rows : {64, 128, 192}) {
    const Case c{"beside_a_dot", beside_a_dot(rows), {call}, 0x1p-7};
    keeps_values(c, call, {.stages = 2});
  }
  EXPECT_TRUE(test::emulates(beside_a_dot(128), call, {}, 0x1p-7));
}

/// What lower() says of a schedule for a program.
std::string error_of(const char* program, const Schedule& schedule) {
  Case c = test::named_case(program);
  Setting setting{.schedule = schedule};
  PassContext context{test::facts_of(c.program, c.calls.front(), setting), schedule, setting.target};
  try {
    lower(c.program, context);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(RolesTurns, AroundLaggingDots) {
  for (const char* name : {"roles_attention", "roles_attention_causal"}) {
    Case c = test::named_case(name);
    keeps_values(c, c.calls.front(), {.stages = 3, .share = Share::turns, .raster = 2});
  }
}

/// A call of attention whose rows are ragged, and see the keys before the diagonal.
Call causal_call(std::int64_t rows, std::int64_t keys, double diagonal) {
  return {{{"B", 1}, {"H", 1}, {"G", 1}, {"I", rows}, {"J", keys}, {"D", 16}, {"E", 16}},
          {{"scale", 0.2}, {"diagonal", diagonal}, {"group", 1}}};
}

Case causal_case(int i, int j) {
  Facts facts{.tensors = {{bf16}, {bf16}, {bf16}, {bf16}, {f32}}, .flags = {{"causal", 1}, {"mask", 0}}};
  return {"causal",
          ops::attention().program(facts, {{"i", i}, {"j", j}, {"d", 16}, {"e", 16}}),
          {causal_call(300, 400, 0), causal_call(300, 310, -70), causal_call(260, 260, -300),
           causal_call(130, 300, 90)},
          0x1p-7};
}

/// Each group of rows stops at its own end, in loops that trail and that do not, in turns, and where one
/// block has one tile.
TEST(RolesGroups, StopAtTheEndOfTheirRows) {
  for (auto [i, j, groups] : {std::array{128, 32, 2}, std::array{192, 64, 3}, std::array{256, 64, 4}}) {
    const Case c = causal_case(i, j);
    for (const Call& call : c.calls) {
      keeps_values(c, call, {.stages = 2, .groups = groups});
      keeps_values(c, call, {.stages = 1, .groups = groups, .share = Share::turns});
    }
    keeps_values(c, c.calls.front(), {.stages = 1, .groups = groups, .lag = Lag::none});
    keeps_values(c, c.calls.front(), {.stages = 2, .groups = groups, .grid = Grid::once});
    keeps_values(c, c.calls.front(), {.groups = groups, .share = Share::turns, .order = TileOrder::plain});
  }
}

/// They do where that saves a step: not in tiles of one step's rows, nor where nothing is causal.
TEST(RolesGroups, StopSoonerWhereThatSavesAStep) {
  auto skips = [](const Case& c, const Schedule& schedule) {
    const Setting setting{.schedule = schedule};
    const PassContext context{test::facts_of(c.program, c.calls.front(), setting), schedule, setting.target};
    return to_text(lower(c.program, context)).find(" skip ") != std::string::npos;
  };
  EXPECT_TRUE(skips(causal_case(128, 64), {.groups = 2}));
  EXPECT_TRUE(skips(causal_case(192, 128), {.groups = 3}));
  EXPECT_FALSE(skips(causal_case(128, 128), {.groups = 2}));
  EXPECT_FALSE(skips(causal_case(128, 64), {.groups = 1}));
  EXPECT_FALSE(skips(test::named_case("roles_attention"), {}));
}

TEST(RolesTurns, NeedADotThatTrailsAndTwoGroups) {
  EXPECT_EQ(error_of("roles_linear_gelu", {.share = Share::turns}),
            "tile error: schedule 'share=turns' is illegal for 'linear_gelu' on sm_90a\n   turns are taken "
            "around lagging dots: share is turns, and no dot trails another of its loop\n   help: "
            "share=together");
  EXPECT_EQ(
      error_of("roles_attention_mask", {.share = Share::turns}),
      "tile error: schedule 'share=turns' is illegal for 'attention' on sm_90a\n   turns are taken around "
      "lagging dots: share is turns, and one group has none to take turns with\n   help: share=together");
}

TEST(RolesAlternate, EachGroupOnItsOwnTile) {
  for (const char* name : {"roles_linear_gelu", "roles_dual_gemm", "roles_batch_dot_sums"}) {
    Case c = test::named_case(name);
    for (const Call& call : c.calls) keeps_values(c, call, {.stages = 3, .share = Share::alternate});
  }
}

/// A tile of two loops is one turn: the group of the last tile has nobody to pass one in between.
TEST(RolesAlternate, TakeOneTurnForAllLoopsOfATile) {
  using namespace dsl;
  Builder p("two_loops");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", f16, {M, K}), b = p.in("b", f16, {N, K}), c = p.in("c", f16, {M, K});
  Out out = p.out("out", f16, {M, N});
  Axis m = p.grid(M, 64), n = p.all(N, 32);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) acc += dot(a(m, k), b(n, k), k);
  for (Axis k : p.pipelined(K, 64)) acc += dot(c(m, k), b(n, k), k);
  out(m, n) = cast(f16, acc);
  const Call one{{{"M", 40}, {"N", 32}, {"K", 200}}}, three{{{"M", 190}, {"N", 32}, {"K", 8}}};
  const Case two{"two_loops", p.finish(), {one, three}, 0x1p-7};
  for (const Call& call : two.calls) {
    for (int stages : {1, 2, 3}) keeps_values(two, call, {.stages = stages, .share = Share::alternate});
  }
}

/// What stands outside loops has a slot for each group: else one would wait for a use two phases ahead.
TEST(RolesAlternate, EachGroupHasItsOwnSlotOfATile) {
  Case c = test::named_case("roles_attention");
  for (const Call& call : c.calls) keeps_values(c, call, {.stages = 1, .share = Share::alternate});
}

/// Blocks in pairs, of which the second may be beyond the last tile.
TEST_P(Roles, KeepValuesInClusters) {
  const Case& c = GetParam();
  const Schedule pairs{.stages = 2, .cluster = 2};
  const Setting setting{.schedule = pairs};
  const PassContext context{test::facts_of(c.program, c.calls.front(), setting), pairs, setting.target};
  if (c.name == "roles_attention_causal" || c.name == "roles_batch_dot_sums") {
    EXPECT_NE(why_no_cluster(c.program, context), "");
  } else {
    keeps_values(c, c.calls.front(), pairs);
  }
}

TEST(RolesCluster, KeepValuesUnderOtherSchedules) {
  Case c = test::named_case("roles_linear_gelu");
  for (const Call& call : c.calls) keeps_values(c, call, {.stages = 3, .cluster = 2});
  keeps_values(c, c.calls.front(), {.stages = 1, .grid = Grid::once, .cluster = 2});
  keeps_values(c, c.calls.front(), {.stages = 3, .share = Share::alternate, .raster = 2, .cluster = 2});
  c = test::named_case("roles_batch_dot");
  keeps_values(c, c.calls.front(), {.stages = 2, .share = Share::alternate, .cluster = 2});
  c = test::named_case("roles_attention");
  keeps_values(c, c.calls.front(), {.stages = 3, .share = Share::turns, .cluster = 2});
  keeps_values(c, c.calls.front(), {.stages = 2, .share = Share::alternate, .lag = Lag::none, .cluster = 2});
}

/// Registers are dealt out of a block's own.
TEST(RolesRegisters, AreNotDealtOutWhereBlocksShareThem) {
  Case c = test::named_case("roles_linear_gelu");
  for (int blocks : {0, 1, 2}) {
    Setting setting{.schedule = {.stages = 2, .blocks = blocks, .groups = 2}};
    PassContext context{test::facts_of(c.program, c.calls.front(), setting), setting.schedule,
                        setting.target};
    Program ready = lower(c.program, context);
    const tessera::Roles& roles = std::get<tessera::Roles>(ready.body.insts.back().op);
    for (const Role& role : roles.roles) EXPECT_EQ(role.registers > 0, blocks < 2);
  }
}

TEST(RolesAlternate, NeedLoopsThatRunAlike) {
  EXPECT_EQ(error_of("roles_attention_causal", {.share = Share::alternate}),
            "tile error: 'attention' has warpgroups alternate, but its loops run longer for some tiles than "
            "for others\n   help: share=together");
}

}  // namespace
}  // namespace tessera
