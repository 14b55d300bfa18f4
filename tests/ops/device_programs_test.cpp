#include "tests/ops/device_programs.h"

#include "tests/support/emulated_result.h"
#include "tile_core/ir/print.h"

namespace tessera {
namespace {

using test::Call;
using test::DeviceProgram;

class DevicePrograms : public ::testing::TestWithParam<DeviceProgram> {};
INSTANTIATE_TEST_SUITE_P(Programs, DevicePrograms, ::testing::ValuesIn(test::device_programs()),
                         [](const auto& info) { return info.param.name; });

TEST_P(DevicePrograms, ParseAndPrintTheSame) {
  Program p = test::device_program(GetParam().name);
  verify(p);
  EXPECT_EQ(to_text(p), test::printed(test::device_program_text(GetParam().name)));
  EXPECT_EQ(parse(to_text(p)), p);
}

TEST_P(DevicePrograms, HaveTheOperatorsTensors) {
  const DeviceProgram& c = GetParam();
  Program p = test::device_program(c.name);
  EXPECT_EQ(p.dims, c.meaning.dims);
  EXPECT_EQ(p.tensors, c.meaning.tensors);
  EXPECT_EQ(p.scalars, c.meaning.scalars);
}

TEST_P(DevicePrograms, GiveTheOperatorsValues) {
  const DeviceProgram& c = GetParam();
  for (const Call& call : c.calls)
    EXPECT_TRUE(test::same_result(c.meaning, test::device_program(c.name), call, c.tolerance))
        << ::testing::PrintToString(call.dims);
}

TEST_P(DevicePrograms, GiveTheSameEmulated) {
  const DeviceProgram& c = GetParam();
  Program ready = test::ready_device_program(c.name);
  for (const Call& call : c.calls) {
    EXPECT_TRUE(test::emulates_as_it_is(ready, call, c.tolerance)) << ::testing::PrintToString(call.dims);
  }
}

}  // namespace
}  // namespace tessera
