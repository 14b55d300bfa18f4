#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"

namespace tessera {
namespace {

using test::Case;

class RolesText : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, RolesText, ::testing::ValuesIn(test::role_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RolesText, GivesTheResultOfTheProgram) {
  const Case& c = GetParam();
  for (const test::Call& call : c.calls) EXPECT_TRUE(test::emulates(c.program, call, {}, c.tolerance));
}

TEST_P(RolesText, GivesItUnderOtherSchedules) {
  const Case& c = GetParam();
  for (const Schedule& schedule : {Schedule{.stages = 1, .grid = Grid::once},
                                   Schedule{.stages = 2, .lag = Lag::none}, Schedule{.stages = 3}}) {
    EXPECT_TRUE(test::emulates(c.program, c.calls.front(), {.schedule = schedule}, c.tolerance));
  }
}

TEST(RolesTextTurns, GivesTheResultOfTheProgram) {
  for (const char* name : {"roles_attention", "roles_attention_causal"}) {
    Case c = test::named_case(name);
    test::Setting setting{.schedule = {.stages = 3, .share = Share::turns}};
    EXPECT_TRUE(test::emulates(c.program, c.calls.front(), setting, c.tolerance)) << name;
  }
}

/// Groups that stop at the end of their own rows skip what the producer has for the others.
TEST(RolesTextGroups, GiveTheResultOfTheProgram) {
  Case c = test::named_case("roles_attention_causal");
  for (Share share : {Share::together, Share::turns}) {
    const test::Setting setting{.schedule = {.stages = 2, .share = share}};
    c.calls.front().dims["I"] = 300;
    EXPECT_TRUE(test::emulates(c.program, c.calls.front(), setting, c.tolerance))
        << to_text(setting.schedule);
  }
}

TEST(RolesTextAlternate, GivesTheResultOfTheProgram) {
  for (const char* name : {"roles_linear_gelu", "roles_dual_gemm", "roles_batch_dot_sums"}) {
    Case c = test::named_case(name);
    test::Setting setting{.schedule = {.stages = 2, .share = Share::alternate}};
    EXPECT_TRUE(test::emulates(c.program, c.calls.front(), setting, c.tolerance)) << name;
  }
}

TEST(RolesTextCluster, GivesTheResultOfTheProgram) {
  for (const char* name :
       {"roles_linear_gelu", "roles_attention", "roles_three_chained_dots", "roles_batch_dot"}) {
    Case c = test::named_case(name);
    for (Share share : {Share::together, Share::alternate}) {
      test::Setting setting{.schedule = {.stages = 2, .share = share, .cluster = 2}};
      EXPECT_TRUE(test::emulates(c.program, c.calls.front(), setting, c.tolerance))
          << name << " " << to_text(setting.schedule);
    }
  }
}

}  // namespace
}  // namespace tessera
