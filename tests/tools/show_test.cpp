#include <regex>

#include "tests/support/golden.h"
#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

class Show : public CommandLine {
 protected:
  /// The text of one stage of a small linear.
  std::string stage(const std::string& name, const std::string& arch = "sm_90a") {
    const SubprocessResult result =
        tessera({"show", "linear_gelu", "64x48x32", "--dtype", "bf16", "--arch", arch, "--stage", name});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.output;
  }

  std::string error(std::vector<std::string> words, int exit_code) {
    words.insert(words.begin(), "show");
    const SubprocessResult result = tessera(words);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    return result.errors;
  }
};

TEST_F(Show, TheTileProgram) {
  EXPECT_GOLDEN("tile", stage("tile"));
}
TEST_F(Show, TheMapOfSharedMemoryAndRegisters) {
  const std::regex place("  [^ ]+\\.cpp:[0-9]+\n");  // the lines of other rooms' files may move
  EXPECT_GOLDEN("memory", std::regex_replace(stage("memory"), place, "\n"));
}

TEST_F(Show, EveryStageOfTheWay) {
  EXPECT_NE(stage("mask_tails").find(" stage masked "), std::string::npos);
  EXPECT_NE(stage("plan_shared_memory").find(" stage ready "), std::string::npos);
  EXPECT_NE(stage("cuda").find("TESSERA_KERNEL(tessera_linear_gelu_"), std::string::npos);
  EXPECT_NE(stage("ptx", "sm_80").find(".target sm_80"), std::string::npos);
  EXPECT_NE(stage("sass", "sm_100a").find("FFMA"), std::string::npos);
}

TEST_F(Show, TheSummaryHasRegistersLandmarksAndVariants) {
  const std::string text = stage("summary");
  EXPECT_EQ(text.rfind("tessera_linear_gelu_", 0), 0) << text;
  for (const char* part : {"\n  sm_90a, ", " registers, ", " bytes of shared memory", "\n  SASS: ", "FFMA ",
                           "\n   1* k=", "\nprogram linear_gelu stage tile"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST_F(Show, AnotherVariantIsAnotherKernel) {
  const std::string first =
      tessera({"show", "softmax", "512x1024", "--stage", "tile", "--variant", "1"}).output;
  const std::string second =
      tessera({"show", "softmax", "512x1024", "--stage", "tile", "--variant", "2"}).output;
  EXPECT_NE(first, "");
  EXPECT_NE(second, "");
}

TEST_F(Show, WrongWordsAreExplained) {
  EXPECT_EQ(error({}, 2), usage_error("tessera show", "expected OP SHAPES, as in linear_gelu 4096x768x3072"));
  EXPECT_EQ(error({"gelu", "3x4"}, 2),
            usage_error("tessera show",
                        "no operator is called 'gelu'; there are add, linear, linear_gelu, softmax, "
                        "scaled_dot_product_attention, flash_attention"));
  EXPECT_EQ(error({"linear", "3x4"}, 2),
            usage_error("tessera show", "linear: expected MxKxN, as in 4096x768x3072, but got 3x4"));
  EXPECT_EQ(error({"add", "3xy"}, 2),
            usage_error("tessera show", "add: expected a whole number but got 'y'"));
  EXPECT_EQ(error({"add", "3x4", "--causal"}, 2), usage_error("tessera show", "add takes no --causal"));
  EXPECT_EQ(error({"add", "3x4", "--dtype", "i64"}, 2),
            usage_error("tessera show", "--dtype: expected f16, bf16 or f32 but got 'i64'"));
  EXPECT_EQ(
      error({"add", "3x4", "--stage", "llvm"}, 2),
      usage_error(
          "tessera show",
          "no stage is called 'llvm'; there are summary, tile, cuda, ptx, sass, memory, simplify, map_grid, "
          "mask_tails, place_tiles, infer_layouts, pipeline_loops, specialize_warps, split_masked_loops, "
          "lag_dots, lower_tiles, insert_barriers, "
          "plan_shared_memory"));
  EXPECT_EQ(error({"add", "3x4", "--arch", "sm_70"}, 2),
            usage_error("tessera show",
                        "architecture 'sm_70' is not known to Tessera, which compiles for sm_80, sm_86, "
                        "sm_89, sm_90a, sm_100a, sm_103a, sm_120a"));
  EXPECT_EQ(error({"add", "3x4", "--variant", "x"}, 2),
            usage_error("tessera show", "--variant: expected a number from 1 on but got 'x'"));
}

TEST_F(Show, WhatCannotBeShownIsExplained) {
  EXPECT_EQ(error({"add", "3x4", "--variant", "99"}, 1),
            "tessera show: --variant 99: the operator has the variants 1 to 1 here\n");
  EXPECT_EQ(error({"attention", "1x2x8x512"}, 1),
            "tessera show: no tile kernel can run scaled_dot_product_attention: head dim 512, above 256\n");
}

}  // namespace
}  // namespace tessera::test
