#include "tests/ops/device_programs.h"
#include "tests/tile_core/codegen/instructions.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/sass.h"

/// The machine code of the device programs that are written by hand.
namespace tessera {
namespace {

Cubin cubin_of(const std::string& name) {
  Program ready = test::ready_device_program(name);
  Facts facts;
  for (const TensorDecl& tensor : ready.tensors) {
    facts.tensors.push_back(
        {.dtype = tensor.dtype, .contiguous_dim = static_cast<int>(tensor.dims.size()) - 1, .alignment = 16});
  }
  return compile(emit_cuda(ready, facts, {}), Target::named("sm_90a"));
}

class DeviceProgramCode : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Programs, DeviceProgramCode,
                         ::testing::Values("linear", "linear_gelu", "linear_128x128", "linear_gelu_128x128",
                                           "attention", "attention_causal", "attention_optimistic",
                                           "attention_causal_optimistic"),
                         [](const auto& info) { return info.param; });

/// Nothing spills, and ptxas puts no dots in order.
TEST_P(DeviceProgramCode, IsClean) {
  Cubin cubin = cubin_of(GetParam());
  EXPECT_EQ(cubin.complaints(), std::vector<std::string>());
  EXPECT_EQ(test::instructions(sass(cubin), {"LDL", "STL"}), std::vector<std::string>());
}

/// The bias is asked for under the first step's dots, which no code that clears sums stands before; each
/// other step waits for the one before.
TEST(DeviceProgramOrder, OfLinear) {
  std::string code = sass(cubin_of("linear_gelu"));
  EXPECT_GOLDEN("linear_gelu",
                test::order_of(test::instructions(code, {"LDG", "HGMMA", "WARPGROUP", "CS2R"}), "WARPGROUP"));
}

/// The weights are rounded before the scores that take their registers; values and scores fly together, and
/// the exponentials of the scores run under the values.
TEST(DeviceProgramOrder, OfAttention) {
  for (const char* name : {"attention", "attention_causal"}) {
    std::string code = sass(cubin_of(name));
    EXPECT_GOLDEN(
        "attention",
        test::order_of(test::instructions(code, {"HGMMA", "WARPGROUP", "F2FP", "MUFU.EX2"}), "F2FP"));
  }
}

/// Between the scores' wait and the vote there is no maximum; the scores that come once more stand in a
/// branch.
TEST(DeviceProgramOrder, OfOptimisticAttention) {
  std::string code = sass(cubin_of("attention_optimistic"));
  EXPECT_GOLDEN(
      "attention_optimistic",
      test::order_of(test::instructions(code, {"HGMMA", "WARPGROUP", "F2FP", "MUFU.EX2", "LDS"}), "F2FP"));
}

}  // namespace
}  // namespace tessera
