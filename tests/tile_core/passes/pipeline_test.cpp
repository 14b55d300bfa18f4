#include "tile_core/passes/pipeline.h"

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"

namespace tessera {
namespace {

using test::Call;
using test::Case;
using test::Setting;

class EveryPass : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, EveryPass, ::testing::ValuesIn(test::all_cases()),
                         [](const auto& info) { return info.param.name; });

/// The passes that declare in passes.h that they reorder sums.
bool reorders(const Pass& pass) {
  return std::string_view(pass.name) == "simplify" || std::string_view(pass.name) == "lower_tiles";
}

void keeps_values(const Case& c, const Call& call, const Setting& setting) {
  SCOPED_TRACE(to_text(setting));
  Program before = c.program;
  Facts facts = test::facts_of(c.program, call, setting);
  lower(c.program, {facts, setting.schedule, setting.target}, [&](const Pass& pass, const Program& after) {
    EXPECT_TRUE(test::same_result(before, after, call, reorders(pass) ? c.tolerance : 0)) << pass.name;
    before = after;
  });
}

TEST_P(EveryPass, KeepsValues) {
  for (const Call& call : GetParam().calls) keeps_values(GetParam(), call, {});
}

TEST_P(EveryPass, KeepsValuesUnderOtherSchedules) {
  const Call& call = GetParam().calls.front();
  keeps_values(GetParam(), call, {.schedule = {.stages = 1, .warps = 1}});
  keeps_values(GetParam(), call, {.schedule = {.stages = 3, .warps = 8}});
  keeps_values(GetParam(), call, {.schedule = {.stages = 4, .warps = 2, .vector = 4}});
}

}  // namespace
}  // namespace tessera
