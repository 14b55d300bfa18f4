#include <gtest/gtest.h>

#include "tests/support/accumulating_programs.h"
#include "tests/tile_core/codegen/instructions.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/runtime/sass.h"

/// The machine code of tiles that are added to outputs.
namespace tessera {
namespace {

using Counts = std::map<std::string, int>;

/// A kernel that nothing may be wrong with, of dense tensors.
std::string code_of(const Program& program, const char* arch) {
  Facts facts;
  for (const TensorDecl& tensor : program.tensors) {
    const int last = static_cast<int>(tensor.dims.size()) - 1;
    facts.tensors.push_back({.dtype = tensor.dtype, .contiguous_dim = last, .alignment = 16});
  }
  const Target& target = Target::named(arch);
  const Cubin cubin = compile(lower_to_cuda(program, facts, {}, target)->kernel, target);
  for (const std::string& complaint : cubin.complaints()) ADD_FAILURE() << program.name << ": " << complaint;
  const std::string code = sass(cubin);
  EXPECT_EQ(test::counted(code, {"LDL", "STL"}), Counts{}) << program.name;
  return code;
}

Counts additions(const Program& program, const char* arch) {
  return test::counted(code_of(program, arch), {"RED", "ATOM", "UTMARED", "UTMASTG", "STG"});
}

constexpr test::SplitTiles kTiles{.m = 64, .n = 64, .k = 32, .part = 256};

constexpr const char* kOne = "RED.E.ADD.F32.FTZ.RN.STRONG.GPU";
constexpr const char* kTwo = "REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU";
constexpr const char* kFour = "REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU";

/// A thread of two warps has 64 sums, of which two stand side by side.
TEST(SumsCompile, OfWarpsAreReductionsInMemory) {
  EXPECT_EQ(additions(test::split_dot(kTiles), "sm_80"), (Counts{{kOne, 64}}));
  EXPECT_EQ(additions(test::split_dot(kTiles), "sm_100a"), (Counts{{kTwo, 32}}));
}

TEST(SumsCompile, OfThreadsAreAsWideAsTheArchitectureAllows) {
  EXPECT_EQ(additions(test::scattered_rows(), "sm_80"), (Counts{{kOne, 12}}));
  EXPECT_EQ(additions(test::scattered_rows(), "sm_90a"), (Counts{{kFour, 3}}));
  EXPECT_EQ(additions(test::scattered_rows(), "sm_100a"), (Counts{{kFour, 3}}));
}

/// Two slices of 32 columns of each warpgroup. The copy engine does not take vectors: of a thread's two rows,
/// one scalar, and columns that the first warpgroup adds.
TEST(SumsCompile, OfWarpgroupsAreAddedByTheCopyEngine) {
  EXPECT_EQ(additions(test::batch_dot(false), "sm_90a"), (Counts{{"UTMAREDG.2D.ADD", 2}, {"STG.E", 1}}));
  EXPECT_EQ(additions(test::batch_dot(true), "sm_90a"),
            (Counts{{"UTMAREDG.2D.ADD", 2}, {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", 3}, {kTwo, 8}}));
}

}  // namespace
}  // namespace tessera
