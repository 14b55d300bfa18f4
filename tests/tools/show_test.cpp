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
  EXPECT_NE(first, second);
}

/// The text of a stage of a linear in tiles and with a schedule by hand.
std::string by_hand(const std::string& schedule, const std::string& tiles, const std::string& name) {
  const SubprocessResult result =
      tessera({"show", "linear", "4096x4096x4096", "--arch", "sm_90a", "--no-bias", "--schedule", schedule,
               "--tiles", tiles, "--stage", name});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return result.output;
}

TEST_F(Show, AScheduleAndTilesByHand) {
  const char* tiles = "m=128,n=192,k=64";
  EXPECT_NE(by_hand("stages=4 share=alternate groups=2", "m=64,n=192,k=64", "memory")
                .find("4 x 24576    %1    weight bf16[n:192, k:64]  swizzle of 128 bytes\n"),
            std::string::npos);
  EXPECT_GOLDEN("roles", by_hand("stages=4 groups=2", tiles, "roles"));
  const std::string timeline = by_hand("stages=4 groups=2", tiles, "timeline");
  EXPECT_EQ(timeline.rfind("linear on sm_90a: one block, as the interpreter runs it on K=", 0), 0)
      << timeline;
  EXPECT_NE(timeline.find(" waits for input 0 (producer)"), std::string::npos) << timeline;
  const std::string summary = by_hand("warps=4", "m=32,n=128,k=32", "summary");
  EXPECT_NE(summary.find("\n  not in the operator's list: k=32 m=32 n=128 warps=4\n"), std::string::npos)
      << summary;
}

TEST_F(Show, WithoutRolesSaysWhy) {
  EXPECT_EQ(
      stage("roles", "sm_80"),
      "linear_gelu on sm_80: 4 warps without roles; why its dots are not wgmma: sm_80 has no wgmma; they "
      "are mma, of 1 x 4 warps\n");
}

TEST_F(Show, Help) {
  const SubprocessResult result = tessera({"show", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_GOLDEN("help", result.output);
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
          "no stage is called 'llvm'; there are summary, tile, cuda, ptx, sass, memory, roles, timeline, "
          "simplify, map_grid, mask_tails, place_tiles, infer_layouts, pipeline_loops, specialize_warps, "
          "split_masked_loops, "
          "lag_dots, lower_tiles, insert_barriers, "
          "plan_shared_memory"));
  EXPECT_EQ(error({"add", "3x4", "--arch", "sm_70"}, 2),
            usage_error("tessera show",
                        "architecture 'sm_70' is not known to Tessera, which compiles for sm_80, sm_86, "
                        "sm_89, sm_90a, sm_100a, sm_103a, sm_120a"));
  EXPECT_EQ(error({"add", "3x4", "--variant", "x"}, 2),
            usage_error("tessera show", "--variant: expected a number from 1 on but got 'x'"));
  for (const char* tiles : {"m", "m=", "=3", "m=-1", "m=3x", "m=64 n=64"})
    EXPECT_EQ(error({"add", "3x4", "--tiles", tiles}, 2),
              usage_error("tessera show",
                          std::string("--tiles: expected NAME=NUMBER,... with numbers from 0 on, as in "
                                      "m=128,n=64, but got '") +
                              tiles + "'"));
  EXPECT_EQ(error({"add", "3x4", "--tiles", "m=64,n=64,m=32"}, 2),
            usage_error("tessera show", "--tiles: m is given twice in 'm=64,n=64,m=32'"));
  EXPECT_EQ(error({"add", "3x4", "--schedule", "stages=2 warps=4 stages=3"}, 2),
            usage_error("tessera show", "schedule 'stages=2 warps=4 stages=3': stages is given twice"));
  EXPECT_EQ(
      error({"add", "3x4", "--schedule", "stages=two"}, 2),
      usage_error("tessera show",
                  "schedule 'stages=two': expected 'automatic' or fields stages=, warps=, blocks=, "
                  "vector=, groups=, raster=, cluster= with numbers, share=together|turns|alternate, "
                  "lag=none|one, grid=once|persistent|counter, order=plain|longest, but got 'stages=two'"));
}

/// Where only the call tells that a word is wrong.
TEST_F(Show, WrongTilesVariantsAndFieldsAreWrongWords) {
  EXPECT_EQ(error({"add", "3x4", "--variant", "99"}, 2),
            usage_error("tessera show", "--variant 99: the operator has the variants 1 to 1 here"));
  EXPECT_EQ(error({"linear", "64x64x64", "--tiles", "q=64"}, 2),
            usage_error("tessera show", "--tiles: linear has the tiles k, m, n, but got 'q'"));
  for (const char* extent : {"0", "2000000000"}) {
    const std::string text = error({"linear", "64x64x64", "--tiles", std::string("m=") + extent}, 2);
    EXPECT_EQ(
        std::regex_replace(text, std::regex("cpp:[0-9]+"), "cpp:1"),
        usage_error("tessera show", "--tiles: tile error: a tile of " + std::string(extent) +
                                        " along M\n  --> ops/linear.cpp:1\n   help: 1 to 1048576 lanes"));
  }
  EXPECT_EQ(error({"linear", "64x64x64", "--schedule", "stages=9 share=alternate"}, 2),
            usage_error("tessera show", "--schedule: stages is 9, and must be 1 to 8 or automatic"));
}

TEST_F(Show, WhatCannotBeShownIsExplained) {
  EXPECT_EQ(error({"linear", "64x64x64", "--arch", "sm_80", "--stage", "roles", "--schedule",
                   "stages=4 share=alternate"},
                  1),
            "tessera show: tile error: schedule 'stages=4 share=alternate' is illegal for 'linear' on sm_80\n"
            "   warpgroups do dots: share=alternate is for wgmma, and dots are not: sm_80 has no wgmma\n");
  EXPECT_EQ(
      error({"linear", "512x512x512", "--dtype", "f32", "--arch", "sm_90a", "--tiles", "m=512,n=512,k=8",
             "--schedule", "warps=1"},
            1),
      "tessera show: tile error: schedule 'warps=1' is illegal for 'linear' on sm_90a\n"
      "   threads hold parts of tiles: f32[m:512, n:512] is 8192 elements in each of 32 threads, and 1024 "
      "are the most: take smaller tiles, more warps, or extents that a larger power of two divides: threads "
      "share those\n");
  EXPECT_EQ(error({"attention", "1x2x8x512"}, 1),
            "tessera show: no tile kernel can run scaled_dot_product_attention: head dim 512, above 256\n");
}

}  // namespace
}  // namespace tessera::test
