#include "tile_core/base/dump.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

using test::ScopedVariable;

TEST(Dump, WritesTheListedKindsIntoTheFolder) {
  const test::TemporaryFolder folder;
  const ScopedVariable kinds("TESSERA_DUMP", "cuda");
  const ScopedVariable where("TESSERA_DUMP_DIR", folder / "new");
  dump::write("cuda", "add", "sm_80.cu", "text");
  dump::write("ptx", "add", "sm_80.ptx", "text");
  EXPECT_EQ(test::read_file(folder / "new" / "add.sm_80.cu"), "text");
  EXPECT_FALSE(std::filesystem::exists(folder / "new" / "add.sm_80.ptx"));
}

TEST(Dump, GoesToStderrWithoutAFolder) {
  const ScopedVariable kinds("TESSERA_DUMP", "pass");
  const ScopedVariable where("TESSERA_DUMP_DIR", "");
  testing::internal::CaptureStderr();
  dump::write("pass", "add", "mask_tails", "%1 = load");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "// ---- add.mask_tails\n%1 = load\n");
}

TEST(Dump, AFolderThatCannotBeWrittenIsAnError) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", "");
  const ScopedVariable kinds("TESSERA_DUMP", "cuda");
  const std::string inside_a_file = folder / "file" / "x";
  const ScopedVariable where("TESSERA_DUMP_DIR", inside_a_file);
  try {
    dump::write("cuda", "add", "cu", "text");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), "TESSERA_DUMP_DIR=" + inside_a_file + ": cannot write " + inside_a_file +
                                "/add.cu (Not a directory); name a folder that can be written");
  }
}

}  // namespace
}  // namespace tessera
