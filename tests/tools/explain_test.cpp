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

TEST_F(Explain, WithoutAGpuItIsThePlanForAnH200) {
  const SubprocessResult result = tessera({"explain", "attention", "2x16x1024x64", "-p", "tile"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("on NVIDIA H200 (sm_90a)\n  plan: "), std::string::npos) << result.output;
  EXPECT_TRUE(
      result.output.ends_with("\nThere is no GPU here: this is the plan for NVIDIA H200; --device names "
                              "another. On the CPU the interpreter runs.\n"))
      << result.output;
  set("TESSERA_ARCH", "sm_80");
  const SubprocessResult chosen = tessera({"explain", "softmax", "4x8"});
  EXPECT_TRUE(chosen.output.ends_with(
      "\nThere is no GPU here: this is the plan for sm_80; --device names another. On the CPU ATen runs.\n"))
      << chosen.output;
  set("TESSERA_ARCH", "foo");
  EXPECT_EQ(
      tessera({"explain", "softmax", "4x8"}).errors,
      "tessera explain: TESSERA_ARCH=foo is not legal: architecture 'foo' is not known to Tessera, which "
      "compiles for sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a; unset it for the device's own\n");
}

TEST_F(Explain, SaysWhetherProductsAreInTf32) {
  const auto plan = [](std::vector<std::string> more) {
    std::vector<std::string> words{"explain", "linear", "64x96x64", "--dtype", "f32", "-p", "tile"};
    words.insert(words.end(), more.begin(), more.end());
    return tessera(words).output;
  };
  EXPECT_NE(plan({"--tf32"}).find("preactivation=0 tf32=1 on NVIDIA H200"), std::string::npos)
      << plan({"--tf32"});
  EXPECT_EQ(plan({}).find("tf32"), std::string::npos) << plan({});
}

TEST_F(Explain, TheKernelOfTrainingIsAnotherOne) {
  const auto plan = [](std::vector<std::string> more) {
    std::vector<std::string> words{"explain", "linear_gelu", "64x96x64", "-p", "tile"};
    words.insert(words.end(), more.begin(), more.end());
    return tessera(words).output;
  };
  EXPECT_NE(plan({}).find("preactivation=0 "), std::string::npos) << plan({});
  EXPECT_NE(plan({"--training"}).find("preactivation=1 "), std::string::npos) << plan({"--training"});
}

TEST_F(Explain, CallsThatBreakTheRulesAreUsageErrors) {
  const auto error = [](std::vector<std::string> words) {
    words.insert(words.begin(), "explain");
    const SubprocessResult result = tessera(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.errors;
  };
  const auto usage = [](const std::string& text) { return usage_error("tessera explain", text); };
  EXPECT_EQ(error({"softmax", "4x4", "--dim", "7"}),
            usage("softmax(): expected dim to be in [-2, 1], but got 7"));
  EXPECT_EQ(
      error({"attention", "2x16x1024x64", "--kv-heads", "3"}),
      usage("scaled_dot_product_attention(): expected query's number of heads to be a multiple of key's, "
            "but got 16 and 3"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--arch", "sm_80", "--device", "H200"},
        {"--device", "sm_80", "--arch", "sm_90a"}}) {
    EXPECT_EQ(error({"add", "4x4", words[0], words[1], words[2], words[3]}),
              usage("--device and --arch each name what to compile for, and sm_80 is one already: give one"));
  }
  EXPECT_EQ(error({"linear", "4x8x16", "--tf32"}), usage("--tf32: expected --dtype f32, but got bf16"));
  EXPECT_EQ(error({"attention", "1x1x8x8", "--dtype", "f32", "--tf32"}),
            usage("scaled_dot_product_attention takes no --tf32"));
  EXPECT_EQ(error({"attention", "2x16x1024x64", "--kv-heads", "-1"}),
            usage("--kv-heads: expected a number from 1 on but got '-1'"));
  EXPECT_EQ(error({"attention", "1x1x8x8", "--mask", "bool", "--causal"}),
            usage("scaled_dot_product_attention(): expected no attn_mask with is_causal=True, but got one of "
                  "shape [1, 1, 1, 8]"));
  EXPECT_EQ(
      error({"add", "4x4", "--other", "3x4"}),
      usage("The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 0"));
  EXPECT_EQ(error({"softmax", "4294967296x4294967296"}),
            usage("softmax: expected sizes of tensor 1 from 0 on and of less than 2^63 bytes, but got "
                  "[4294967296, 4294967296]"));
}

TEST_F(Explain, NumbersWordsAndOptionsAreNamed) {
  const auto error = [](std::vector<std::string> words) {
    words.insert(words.begin(), "explain");
    return tessera(words).errors;
  };
  const auto usage = [](const std::string& text) { return usage_error("tessera explain", text); };
  EXPECT_EQ(
      error({"softmax", "99999999999999999999x4"}),
      usage("softmax: expected a whole number up to 9223372036854775807 but got '99999999999999999999'"));
  EXPECT_EQ(error({"softmax", "-4x4"}), usage("a size of '-4x4' is below 0"));
  EXPECT_EQ(error({"softmax", "4x-4"}), usage("softmax: a size of '4x-4' is below 0"));
  EXPECT_EQ(error({"softmax", "4x4", "8x8"}), usage("'8x8' is one word too many after softmax 4x4"));
  EXPECT_EQ(error({"softmax", "4x4", "--dtype", "fp8"}),
            usage("--dtype: expected f16, bf16 or f32 but got 'fp8'"));
  EXPECT_EQ(error({"softmax", "4x4", "--dtpye", "f16"}),
            usage("no option is called '--dtpye'; the nearest is --dtype"));
  EXPECT_EQ(error({"softmx", "4x4"}),
            usage("no operator is called 'softmx'; there are add, linear, linear_gelu, softmax, "
                  "scaled_dot_product_attention, flash_attention; the nearest is softmax"));
}

TEST_F(Explain, FilesOfTheEnvironmentThatDoNotReadAreNamed) {
  const std::string file = (folder_ / "file.json").string();
  write_file(file, "{");
  set("TESSERA_PLANS", file);
  SubprocessResult result = tessera({"explain", "softmax", "4x8"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors,
            "tessera explain: TESSERA_PLANS=" + file + ": " + file +
                ": is no JSON: parse error at line 1, column 2: syntax error while parsing object "
                "key - unexpected end of input; expected string literal; unset it, or write the "
                "file anew with tessera::save_plans()\n");
  set("TESSERA_PLANS", {});
  write_file(file, "");
  set("TESSERA_RECORDS", file);
  result = tessera({"explain", "softmax", "4x8"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors,
            "tessera: warning: TESSERA_RECORDS=" + file + ": " + file +
                ": is empty; the file is not used; `tessera bench --record` writes such a file\n");
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
