#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

using Bench = CommandLine;

TEST_F(Bench, WithoutAGpuItSaysWhatWorks) {
  const SubprocessResult result = tessera({"bench", "softmax", "512x256"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(
      result.errors.rfind("tessera bench: measuring needs an NVIDIA GPU, and this process sees none: ", 0), 0)
      << result.errors;
  EXPECT_NE(result.errors.find(
                "\nWithout one, `tessera show OP SHAPES` compiles kernels, and `tessera explain OP SHAPES "
                "--device H200` shows plans\n"),
            std::string::npos)
      << result.errors;
}

TEST_F(Bench, WrongWordsAreExplained) {
  const SubprocessResult result = tessera({"bench", "softmax", "512x256", "--rounds", "0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors, usage_error("tessera bench", "--rounds: expected a number from 1 on but got '0'"));
}

TEST_F(Bench, TheDemoNamesAFileThatIsMissing) {
  const SubprocessResult result = run_subprocess({TESSERA_DEMO, "/nowhere/sentences.txt"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors,
            "demo: no sentences in /nowhere/sentences.txt; give a text file with one on each line\n");
}

}  // namespace
}  // namespace tessera::test
