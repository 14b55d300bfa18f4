#include "tests/ops/hand_made.h"

#include "tests/support/emulated_result.h"
#include "tile_core/ir/print.h"

namespace tessera {
namespace {

using test::Call;
using test::HandMade;

class HandMadePrograms : public ::testing::TestWithParam<HandMade> {};
INSTANTIATE_TEST_SUITE_P(Programs, HandMadePrograms, ::testing::ValuesIn(test::hand_made()),
                         [](const auto& info) { return info.param.name; });

TEST_P(HandMadePrograms, ParseAndPrintTheSame) {
  Program p = test::hand_made_program(GetParam().name);
  verify(p);
  EXPECT_EQ(to_text(p), test::printed(test::hand_made_text(GetParam().name)));
  EXPECT_EQ(parse(to_text(p)), p);
}

TEST_P(HandMadePrograms, HaveTheOperatorsTensors) {
  const HandMade& c = GetParam();
  Program p = test::hand_made_program(c.name);
  EXPECT_EQ(p.dims, c.meaning.dims);
  EXPECT_EQ(p.tensors, c.meaning.tensors);
  EXPECT_EQ(p.scalars, c.meaning.scalars);
}

TEST_P(HandMadePrograms, GiveTheOperatorsValues) {
  const HandMade& c = GetParam();
  for (const Call& call : c.calls)
    EXPECT_TRUE(test::same_result(c.meaning, test::hand_made_program(c.name), call, c.tolerance))
        << ::testing::PrintToString(call.dims);
}

TEST_P(HandMadePrograms, GiveTheSameEmulated) {
  const HandMade& c = GetParam();
  Program ready = test::hand_made_ready(c.name);
  for (const Call& call : c.calls) {
    EXPECT_TRUE(test::emulates_as_it_is(ready, call, c.tolerance)) << ::testing::PrintToString(call.dims);
  }
}

}  // namespace
}  // namespace tessera
