#include <set>

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tests/support/mutation.h"
#include "tile_core/base/error.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/pipeline.h"

// Blocks that draw their tiles from a counter.
namespace tessera {
namespace {

using test::Call;
using test::Case;
using test::Setting;

PassContext context_of(const Case& c, const Call& call, const Schedule& schedule) {
  const Setting setting{.schedule = schedule};
  return {test::facts_of(c.program, call, setting), schedule, setting.target};
}

/// Every pass keeps values, whichever block draws a tile.
void keeps_values(const Case& c, const Call& call, const Schedule& schedule) {
  SCOPED_TRACE(to_text(schedule));
  Program before = c.program;
  lower(c.program, context_of(c, call, schedule), [&](const Pass& pass, const Program& after) {
    const bool reorders = std::string_view(pass.name) == "simplify" || test::accumulates(c.program);
    EXPECT_TRUE(test::same_result(before, after, call, reorders ? c.tolerance : 0)) << pass.name;
    before = after;
  });
  EXPECT_TRUE(before.launch.counter);
}

class Drawn : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Drawn, ::testing::ValuesIn(test::role_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Drawn, TilesKeepTheirValues) {
  const Case& c = GetParam();
  for (const Call& call : c.calls) keeps_values(c, call, {.grid = Grid::counter});
  keeps_values(c, c.calls.front(), {.stages = 1, .grid = Grid::counter, .lag = Lag::none});
  keeps_values(c, c.calls.front(), {.stages = 2, .grid = Grid::counter, .raster = 2});
  keeps_values(c, c.calls.front(), {.stages = 2, .grid = Grid::counter, .order = TileOrder::plain});
}

TEST(DrawnTiles, KeepTheirValuesInTurnsAndForGroupsThatAlternate) {
  for (const char* name : {"roles_attention", "roles_attention_causal"}) {
    const Case c = test::named_case(name);
    keeps_values(c, c.calls.front(), {.stages = 3, .share = Share::turns, .grid = Grid::counter});
  }
  for (const char* name :
       {"roles_linear_gelu", "roles_dual_gemm", "roles_batch_dot_sums", "roles_attention"}) {
    const Case c = test::named_case(name);
    for (const Call& call : c.calls)
      keeps_values(c, call, {.stages = 2, .share = Share::alternate, .grid = Grid::counter});
  }
}

/// Of groups that alternate, blocks have an odd and an even number of tiles, one, and all.
TEST(DrawnTiles, AreAnyNumberForGroupsThatAlternate) {
  const Case c = test::named_case("roles_linear_gelu");
  const Schedule schedule{.stages = 2, .share = Share::alternate, .grid = Grid::counter};
  const Program ready = lower(c.program, context_of(c, c.calls.front(), schedule));
  for (std::int64_t M : {8, 72, 136, 200, 264, 328}) {
    const Call call{{{"M", M}, {"N", 64}, {"K", 72}}};
    const auto expected = test::outputs(lower(c.program, context_of(c, call, {.grid = Grid::once})), call);
    for (std::int64_t blocks : {1, 2, 3}) {
      for (InterpretOptions options : test::schedules(ready)) {
        options.blocks = blocks;
        EXPECT_EQ(test::outputs(ready, call, options), expected) << M << " rows, " << blocks << " blocks";
      }
    }
  }
}

void every_step_is_needed(const char* name, const Schedule& schedule,
                          const std::map<std::string, std::int64_t>& sizes) {
  Case c = test::named_case(name);
  for (const auto& [dim, size] : sizes) c.calls.front().dims[dim] = size;
  const Program p = lower(c.program, context_of(c, c.calls.front(), schedule));
  std::vector<test::Change> changes = test::without_waits(p);
  for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  EXPECT_EQ(test::unnoticed(changes, p, {c.calls.front()}), std::vector<std::string>()) << to_text(schedule);
}

TEST(DrawnTiles, NeedEveryStep) {
  every_step_is_needed("roles_linear_gelu", {.stages = 2, .grid = Grid::counter}, {{"M", 520}});
  every_step_is_needed("roles_linear_gelu", {.stages = 2, .share = Share::alternate, .grid = Grid::counter},
                       {{"M", 520}});
  every_step_is_needed("roles_attention_causal", {.stages = 2, .grid = Grid::counter}, {{"I", 400}});
}

/// What lower() says of a schedule for a program.
std::string error_of(const char* program, const Schedule& schedule, const Target& target) {
  const Case c = test::named_case(program);
  PassContext context = context_of(c, c.calls.front(), schedule);
  context.target = target;
  try {
    lower(c.program, context);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(DrawnTiles, AreOfWarpgroups) {
  EXPECT_EQ(
      error_of("roles_linear_gelu", {.grid = Grid::counter}, Target::named("sm_80")),
      "tile error: schedule 'grid=counter' is illegal for 'linear_gelu' on sm_80\n   warpgroups do dots: "
      "grid=counter is for wgmma, and dots are not: sm_80 has no wgmma");
  EXPECT_TRUE(error_of("softmax_bf16_f32_resident_3d", {.grid = Grid::counter}, Target::named("sm_90a"))
                  .find("grid=counter is for wgmma, and dots are not: ") != std::string::npos);
}

TEST(DrawnTiles, AreOfBlocksThatAreAlone) {
  EXPECT_EQ(
      error_of("roles_linear_gelu", {.grid = Grid::counter, .cluster = 2}, Target::named("sm_90a")),
      "tile error: schedule 'cluster=2 grid=counter' is illegal for 'linear_gelu' on sm_90a\n   blocks that "
      "draw tiles are alone: cluster is 2, and grid=counter has each block draw a tile of its own");
}

TEST(DrawnTiles, OfGroupsThatAlternateRunAlike) {
  EXPECT_EQ(error_of("roles_attention_causal", {.share = Share::alternate, .grid = Grid::counter},
                     Target::named("sm_90a")),
            "tile error: 'attention' has warpgroups alternate, but its loops run longer for some tiles than "
            "for others\n   help: share=together");
}

}  // namespace
}  // namespace tessera
