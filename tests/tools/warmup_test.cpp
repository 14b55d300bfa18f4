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

TEST_F(WarmupCommand, WithoutADeviceTheEnvironmentsArchitectureIsMeant) {
  set("TESSERA_ARCH", "sm_80");
  EXPECT_EQ(tessera({"warmup", "softmax", "512x256", "-p", "tile"}).output,
            "kernels ready: 1, of them compiled now: 1; calls that run native: 0\n");
}

TEST_F(WarmupCommand, JitOffCompilesNothing) {
  const std::vector<std::string> words = {"warmup", "add", "1024x1024", "--arch", "sm_90a", "-p", "tile"};
  set("TESSERA_JIT", "off");
  const SubprocessResult missing = tessera(words);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.output,
            "kernels ready: 0, of them compiled now: 0; calls that run native: 0\n"
            "failed: add 1024x1024 1024x1024 BFloat16: kernel tessera_add_d04096_plain for sm_90a is not in "
            "the cache, and TESSERA_JIT=off forbids compiling it; warm up with TESSERA_JIT=block\n");
  set("TESSERA_JIT", "background");  // waits, as block
  EXPECT_EQ(tessera(words).output, "kernels ready: 1, of them compiled now: 1; calls that run native: 0\n");
  set("TESSERA_JIT", "off");
  const SubprocessResult cached = tessera(words);
  EXPECT_EQ(cached.exit_code, 0);
  EXPECT_EQ(cached.output, "kernels ready: 1, of them compiled now: 0; calls that run native: 0\n");
}

TEST_F(WarmupCommand, ReadsAFile) {
  write_file(folder_ / "calls.txt", "# what the server runs\n\nadd 1024x1024\n  softmax 512x256\n");
  const SubprocessResult result =
      tessera({"warmup", "--device", "H200", "--file", (folder_ / "calls.txt").string()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(
      result.output,
      "kernels ready: 0, of them compiled now: 0; calls that run native: 2\n"
      "where a plan is native there is nothing to compile; -p tile compiles a generated kernel for every "
      "call\n");
}

TEST_F(WarmupCommand, ACacheThatIsNotFilledIsAFailure) {
  const std::vector<std::string> words = {"warmup", "add", "1024x1024", "--arch", "sm_90a", "-p", "tile"};
  const std::string ready = "kernels ready: 1, of them compiled now: 1; calls that run native: 0\n";
  set("TESSERA_CACHE_MAX_MB", "0");
  SubprocessResult result = tessera(words);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, ready +
                               "failed: the cache was not filled: TESSERA_CACHE_MAX_MB=0 leaves no room in " +
                               place().string() + "\n");
  set("TESSERA_CACHE_MAX_MB", {});
  set("TESSERA_DUMP", "ptx");
  result = tessera(words);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, ready + "failed: the cache was not filled: TESSERA_DUMP goes around it\n");
  set("TESSERA_DUMP", {});
  write_file(folder_ / "file", "");
  const std::string file = (folder_ / "file").string();
  set("TESSERA_CACHE_DIR", file);
  result = tessera(words);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, ready + "failed: the cache was not filled: the kernel cache in " + file +
                               " cannot be used: Not a directory\n");
}

TEST_F(WarmupCommand, AnIllegalDumpIsAnErrorOfTheVariable) {
  for (const std::string value : {"foo", ","}) {
    set("TESSERA_DUMP", value);
    const SubprocessResult result = tessera({"warmup", "add", "64x64", "--arch", "sm_90a", "-p", "tile"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(
        result.output,
        "kernels ready: 0, of them compiled now: 0; calls that run native: 0\n"
        "failed: add 64x64 64x64 BFloat16: TESSERA_DUMP=" +
            value +
            " is not legal: expected a list, separated by commas, of pass, cuda, ptx, sass; unset it for "
            "the default ''\n");
  }
}

TEST_F(WarmupCommand, WrongWordsAreExplained) {
  const SubprocessResult none = tessera({"warmup"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.errors,
            usage_error("tessera warmup", "expected OP SHAPES, as in linear_gelu 4096x768x3072"));
  const SubprocessResult device = tessera({"warmup", "add", "3x4"});
  EXPECT_EQ(device.exit_code, 1);
  EXPECT_EQ(device.errors,
            "tessera warmup: there is no GPU here: say with --device NAME or TESSERA_ARCH for which one to "
            "compile\n");
  write_file(folder_ / "calls.txt", "# one\nadd\n");
  const SubprocessResult call =
      tessera({"warmup", "--device", "H200", "--file", (folder_ / "calls.txt").string()});
  EXPECT_EQ(call.exit_code, 1);
  EXPECT_EQ(call.errors, "tessera warmup: " + (folder_ / "calls.txt").string() +
                             ":2: 'add' is no call: add: expected sizes, as in add 1024x1024\n");
  const SubprocessResult file = tessera({"warmup", "--device", "H200", "--file", "/nowhere"});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_EQ(file.errors,
            "tessera warmup: cannot open /nowhere (No such file or directory); --file names a file with one "
            "call per line\n");
  EXPECT_EQ(tessera({"warmup", "--device", "H200", "--file", "/"}).errors,
            "tessera warmup: cannot open / (Is a directory); --file names a file with one call per line\n");
}

}  // namespace
}  // namespace tessera::test
