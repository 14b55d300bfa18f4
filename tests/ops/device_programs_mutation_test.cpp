#include <algorithm>
#include <regex>

#include "tests/ops/device_programs.h"
#include "tests/support/mutation.h"

namespace tessera {
namespace {

using test::Call;
using test::Change;

struct Steps {
  const char* program;
  std::vector<Call> calls;  ///< several tiles for every instance, loops longer than rings
};
void PrintTo(const Steps& s, std::ostream* out) {
  *out << s.program;
}

class DeviceProgramSteps : public ::testing::TestWithParam<Steps> {};
/// Both ways of the optimistic programs.
std::vector<Call> attention_calls(double other_scale) {
  return {test::attention_call(300, 640, 2), test::attention_call(300, 640, 2, other_scale)};
}

INSTANTIATE_TEST_SUITE_P(Programs, DeviceProgramSteps,
                         ::testing::Values(Steps{"linear", {{{{"M", 300}, {"N", 400}, {"K", 328}}}}},
                                           Steps{"linear_gelu", {{{{"M", 300}, {"N", 400}, {"K", 328}}}}},
                                           Steps{"linear_128x128", {{{{"M", 300}, {"N", 270}, {"K", 456}}}}},
                                           Steps{"linear_gelu_128x128",
                                                 {{{{"M", 300}, {"N", 270}, {"K", 456}}}}},
                                           Steps{"attention", {test::attention_call(300, 640, 2)}},
                                           Steps{"attention_causal", {test::attention_call(300, 640, 2)}},
                                           Steps{"attention_optimistic", attention_calls(20)},
                                           Steps{"attention_causal_optimistic", attention_calls(20)}),
                         [](const auto& info) { return info.param.program; });

/// Lines that wait, pass on or order, and do nothing else.
std::ptrdiff_t steps_in(const std::string& text) {
  const std::regex step(
      "\n *(acquire|commit|wait|release|fence|barrier|take_turn|pass_turn)(_dots|_stores|_shared)?\\b");
  return std::distance(std::sregex_iterator(text.begin(), text.end(), step), {});
}

/// Each step left out, and each wait for one group less, is an error or gives other values.
TEST_P(DeviceProgramSteps, AreAllNeeded) {
  const auto& [name, calls] = GetParam();
  Program p = test::device_program(name);
  std::vector<Change> changes = test::without_waits(p);
  for (Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  EXPECT_EQ(std::ranges::count_if(changes, [](const Change& c) { return c.what.starts_with("without"); }),
            steps_in(test::device_program_text(name)));
  changes.push_back({"nothing", p});
  EXPECT_EQ(test::unnoticed(changes, p, calls), std::vector<std::string>{"nothing"});
}

}  // namespace
}  // namespace tessera
