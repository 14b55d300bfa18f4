#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

using Doctor = CommandLine;

bool has_line(const std::string& text, const std::string& begin) {
  return text.find("\n" + begin) != std::string::npos;
}

TEST_F(Doctor, WithoutAGpuAllIsWellAndTheTextSaysWhatIsAbsent) {
  const SubprocessResult result = tessera({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(has_line(result.output, "ok  torch     2.11.0 in /")) << result.output;
  EXPECT_TRUE(has_line(result.output, "-   driver    ")) << result.output;
  EXPECT_TRUE(
      has_line(result.output,
               "-   devices   none: operators run on the CPU; kernels can be compiled for --device NAME"))
      << result.output;
  EXPECT_TRUE(has_line(result.output, "ok  NVRTC     ")) << result.output;
  EXPECT_TRUE(has_line(result.output, "ok  compiles  a kernel for sm_90a in ")) << result.output;
  EXPECT_TRUE(has_line(result.output, "ok  cache     " + place().string() + ": kernels: 0, 0.0 of 1024 MB"))
      << result.output;
  EXPECT_TRUE(has_line(result.output, "ok  variables TESSERA_*: every value is legal")) << result.output;
}

TEST_F(Doctor, AVariableThatIsNotLegalIsARepair) {
  for (const auto& [name, value] : {std::pair{"TESSERA_POLICY", "fast"}, {"TESSERA_ARCH", "sm_91"}}) {
    set(name, value);
    const SubprocessResult result = tessera({"doctor"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(
        has_line(result.output, std::string("!!  variables ") + name + "=" + value + " is not legal: "))
        << result.output;
    set(name, "");
  }
}

TEST_F(Doctor, AMissingNvrtcIsARepairWithExitCode1) {
  set("TESSERA_NVRTC", "/nowhere/libnvrtc.so");
  const SubprocessResult result = tessera({"doctor"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has_line(result.output, "!!  NVRTC     ")) << result.output;
  EXPECT_NE(result.output.find("/nowhere/libnvrtc.so"), std::string::npos);
}

TEST_F(Doctor, ACacheThatCannotBeUsedIsARepair) {
  write_file(place(), "a file");
  const SubprocessResult result = tessera({"doctor"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has_line(
      result.output, "!!  cache     " + place().string() +
                         " cannot be used: Not a directory; kernels are compiled anew by every process. Set "
                         "TESSERA_CACHE_DIR to a folder of yours"))
      << result.output;
}

}  // namespace
}  // namespace tessera::test
