#include "perf/device_programs.h"

#include <gtest/gtest.h>

#include "perf/families.h"
#include "perf/problem.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/launch.h"

namespace tessera::perf {
namespace {

const Target& hopper() {
  return Target::named("sm_90a");
}

TEST(DevicePrograms, AreKernelsForWhatIsMeasured) {
  for (const CallList& list : device_program_calls()) {
    for (const CallSpec& spec : list.calls) {
      const Call call = call_of(spec);
      const KernelText kernel =
          kernel_by_hand(TESSERA_DEVICE_PROGRAMS, list.name, call.problem().facts, hopper());
      EXPECT_EQ(grid_size(kernel, call.tensors(), {.multiprocessors = 132}), 132) << to_text(spec);
      EXPECT_NO_THROW(check_covered(kernel, call.tensors()));
      for (const Parameter& parameter : kernel.parameters) {
        const bool scalar =
            parameter.kind == Parameter::Kind::scalar_f32 || parameter.kind == Parameter::Kind::scalar_i64;
        EXPECT_LT(parameter.tensor, static_cast<int>(scalar ? call.scalars().size() : call.tensors().size()));
      }
      for (const TensorMap& map : kernel.maps)
        EXPECT_EQ(static_cast<int>(map.box.size()),
                  call.tensors()[static_cast<std::size_t>(map.tensor)].rank);
    }
  }
}

std::string complaint(const std::string& folder, const std::string& name) {
  try {
    kernel_by_hand(folder, name, {}, hopper());
    return "none";
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(DevicePrograms, ATextThatIsNotThereIsAnError) {
  EXPECT_EQ(complaint("nowhere", "linear"),
            "no device program can be read from nowhere/linear.txt; --texts names the folder");
}

TEST(DevicePrograms, ATextOfAnotherStageIsAnError) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "p.txt", "program p stage tile {\n}\n");
  EXPECT_EQ(complaint(folder.path().string(), "p"),
            (folder / "p.txt").string() + " is at stage tile; device programs by hand are at stage synced");
}

}  // namespace
}  // namespace tessera::perf
