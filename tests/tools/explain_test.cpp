#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

using Explain = CommandLine;

TEST_F(Explain, SaysWhichPlanAndWhy) {
  const SubprocessResult result = tessera({"explain", "softmax", "4096x1024", "--device", "A100"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("softmax N=1024 O0=4096"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("on NVIDIA A100-SXM4-80GB (sm_80)"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("from the cost model: no record shows a generated kernel faster here"),
            std::string::npos)
      << result.output;
}

TEST_F(Explain, FollowsThePolicy) {
  const SubprocessResult result =
      tessera({"explain", "softmax", "4096x1024", "--device", "A100", "--policy", "tile"});
  EXPECT_NE(result.output.find("the policy is tile, and nothing is measured here"), std::string::npos)
      << result.output;
}

TEST_F(Explain, WrongWordsAreExplained) {
  const SubprocessResult policy = tessera({"explain", "add", "3x4", "--policy", "fast"});
  EXPECT_EQ(policy.exit_code, 2);
  EXPECT_EQ(policy.errors,
            usage_error("tessera explain", "--policy: expected auto, tile or native but got 'fast'"));
  const SubprocessResult device = tessera({"explain", "add", "3x4", "--device", "Voodoo"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_EQ(device.errors.rfind(
                "tessera explain: no device is called 'Voodoo'; known are the names with H200, ", 0),
            0)
      << device.errors;
}

}  // namespace
}  // namespace tessera::test
