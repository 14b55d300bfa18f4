#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

using WarmupCommand = CommandLine;

TEST_F(WarmupCommand, CompilesOnceWithoutAGpu) {
  const std::vector<std::string> words = {"warmup", "softmax",  "512x256", "--arch",
                                          "sm_90a", "--policy", "tile"};
  const SubprocessResult first = tessera(words);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.output, "kernels ready: 1, of them compiled now: 1; calls that run native: 0\n");
  EXPECT_NE(first.errors.find("1 of 1: "), std::string::npos) << first.errors;  // progress, in lines
  EXPECT_EQ(tessera(words).output, "kernels ready: 1, of them compiled now: 0; calls that run native: 0\n");
}

TEST_F(WarmupCommand, ReadsAFile) {
  write_file(folder_ / "calls.txt", "# what the server runs\n\nadd 1024x1024\n  softmax 512x256\n");
  const SubprocessResult result =
      tessera({"warmup", "--device", "H200", "--file", (folder_ / "calls.txt").string()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "kernels ready: 0, of them compiled now: 0; calls that run native: 2\n");
}

TEST_F(WarmupCommand, WrongWordsAreExplained) {
  const SubprocessResult none = tessera({"warmup"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.errors,
            usage_error("tessera warmup", "expected OP SHAPES, as in linear_gelu 4096x768x3072"));
  const SubprocessResult device = tessera({"warmup", "add", "3x4"});
  EXPECT_EQ(device.exit_code, 1);
  EXPECT_EQ(device.errors,
            "tessera warmup: there is no GPU here: say with --device NAME for which one to compile\n");
  write_file(folder_ / "calls.txt", "add\n");
  const SubprocessResult call =
      tessera({"warmup", "--device", "H200", "--file", (folder_ / "calls.txt").string()});
  EXPECT_EQ(call.exit_code, 1);
  EXPECT_EQ(
      call.errors,
      "tessera warmup: 'add' is no call: expected OP SHAPES [flags], as in linear_gelu 4096x768x3072\n");
  const SubprocessResult file = tessera({"warmup", "--device", "H200", "--file", "/nowhere"});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_EQ(file.errors,
            "tessera warmup: cannot open /nowhere; --file names a file with one call per line\n");
}

}  // namespace
}  // namespace tessera::test
