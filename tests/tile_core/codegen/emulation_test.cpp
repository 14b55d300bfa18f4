#include "tests/support/emulated_result.h"
#include "tests/support/foreign_programs.h"

namespace tessera {
namespace {

using test::Arrangement;
using test::Case;
using test::Setting;

class Foreign : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Foreign, ::testing::ValuesIn(test::foreign_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Foreign, TextGivesTheResultOfTheProgram) {
  const Case& c = GetParam();
  for (const test::Call& call : c.calls) {
    EXPECT_TRUE(test::emulates(c.program, call, {}, c.tolerance));
  }
}

}  // namespace
}  // namespace tessera
