#include <gtest/gtest.h>
#include <utility>

#include "tests/support/emulated_result.h"
#include "tests/support/golden.h"
#include "tests/tile_core/codegen/instructions.h"
#include "tests/tile_core/codegen/roled_programs.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/sass.h"

namespace tessera {
namespace {

using test::counted;
using test::DotProgram;
using Counts = std::map<std::string, int>;

/// The cubin, which nothing may be wrong with.
Cubin compiled(const Program& ready, const test::Call& call, const char* arch = "sm_90a") {
  Cubin cubin = compile(emit_cuda(ready, test::facts_of(ready, call, {}), {}), Target::named(arch));
  for (const std::string& complaint : cubin.complaints()) ADD_FAILURE() << arch << ": " << complaint;
  return cubin;
}

class DotCode : public ::testing::TestWithParam<DotProgram> {};
INSTANTIATE_TEST_SUITE_P(Operands, DotCode, ::testing::ValuesIn(test::kDotPrograms),
                         [](const auto& info) { return info.param.name; });

/// One instruction for each step of 16, for each block of 64 rows, for each atom; none that packs or spills.
TEST_P(DotCode, HasTheInstructionsThatTheTextNames) {
  const DotProgram& p = GetParam();
  std::string code = sass(compiled(parse(to_text(p), "hand-made"), {{{"M", p.m}, {"N", p.n}, {"K", p.k}}}));
  int blocks = p.m / 64;
  std::string shape = fmt::format("HGMMA.64x{}x16.F32{}", p.n, p.dtype == std::string("bf16") ? ".BF16" : "");
  EXPECT_EQ(counted(code, {"HGMMA"}), (Counts{{shape, blocks * p.k / 16}}));
  Counts moves;
  if (p.registers) moves[fmt::format("LDSM.16.{}88.4", p.major_a ? "MT" : "M")] = blocks * p.k / 16;
  if (p.swizzle_c > 0 && p.n % 16 == 0)
    moves[fmt::format("STSM.16.{}88.4", p.major_c ? "MT" : "M")] = blocks * p.n / 16;
  if (p.swizzle_c > 0 && p.n % 16 != 0)
    moves[fmt::format("STSM.16.{}88.2", p.major_c ? "MT" : "M")] = blocks * p.n / 8;
  EXPECT_EQ(counted(code, {"LDSM", "STSM", "LDS", "STS"}), moves);
  int out = (p.major_c ? p.m : p.n) * 2;
  EXPECT_EQ(counted(code, {"UTMASTG"})["UTMASTG.2D"], p.swizzle_c > 0 ? out / p.swizzle_c : 0);
  EXPECT_EQ(counted(code, {"LDL", "STL", "PRMT"}), Counts());
}

/// Conversions of one step stand between its waits, dots of two steps fly together, and no wait has moved.
TEST(RolesCode, ChainedDotsFlyUnderTheNextStep) {
  Program program = test::planned("chain_lag");
  std::string code = sass(compiled(program, {{{"S", 128}, {"T", 128}, {"D", 32}}}));
  std::vector<std::string_view> landmarks = {"HGMMA", "WARPGROUP", "F2FP", "SYNCS.PHASECHK.TRANS64.TRYWAIT",
                                             "SYNCS.ARRIVE"};
  EXPECT_GOLDEN("chain_lag", test::order_of(test::instructions(code, landmarks), "F2FP"));
  EXPECT_EQ(counted(code, {"LDL", "STL", "PRMT", "R2UR"}), Counts());
}

TEST(RolesCode, InstancesTakeTurnsAtNumberedBarriers) {
  for (const char* name : {"gemm_turns", "gemm_parts"}) {
    std::string code = sass(compiled(test::planned(name), {{{"M", 256}, {"N", 64}, {"K", 64}}}));
    EXPECT_EQ(counted(code, {"HGMMA"}), (Counts{{"HGMMA.64x32x16.F32.BF16", 1}})) << name;
    EXPECT_EQ(counted(code, {"USETMAXREG"}),
              (Counts{{"USETMAXREG.DEALLOC.CTAPOOL", 1}, {"USETMAXREG.TRY_ALLOC.CTAPOOL", 1}}));
    EXPECT_EQ(counted(code, {"LDL", "STL", "PRMT"}), Counts()) << name;
    EXPECT_EQ(code.find("BAR.SYNC.DEFER_BLOCKING R"), std::string::npos)
        << name << ": a barrier's number is in a register";
  }
}

TEST(RolesCode, BulkCopiesCompileFromHopperOn) {
  Program program = test::planned("twice_roles");
  test::Call call{{{"M", 64}, {"K", 64}}};
  for (const char* arch : {"sm_90a", "sm_100a", "sm_103a"}) compiled(program, call, arch);
  // There ptxas 13.0 takes 8 bytes of stack for them.
  Cubin cubin = compile(emit_cuda(program, test::facts_of(program, call, {}), {}), Target::named("sm_120a"));
  EXPECT_EQ(cubin.spill_bytes, 0);
}

}  // namespace
}  // namespace tessera
