#include <gtest/gtest.h>

#include "ops/operator.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/executable.h"

/// Every warp-specialised kernel that an operator offers on Hopper.
namespace tessera {
namespace {

TensorFacts aligned(DType dtype, int contiguous_dim) {
  return {.dtype = dtype, .contiguous_dim = contiguous_dim, .alignment = 16};
}

/// Compiles the variants of a problem whose dots are wgmma; gives how many. Nothing spills, and ptxas puts no
/// dots in order.
int compile_offered(const ops::Operator& op, const ops::Problem& problem) {
  const Target& target = Target::named("sm_90a");
  int count = 0;
  for (const ops::Variant& variant : op.space(problem, target)) {
    if (variant.schedule.groups == Schedule::kAutomatic) continue;
    auto made =
        lower_to_cuda(op.program(problem.facts, variant.tiles), problem.facts, variant.schedule, target);
    Cubin cubin = compile(made->kernel, target);
    for (const std::string& complaint : cubin.complaints())
      ADD_FAILURE() << made->kernel.name << " " << to_text(variant.schedule) << ": " << complaint;
    ++count;
  }
  return count;
}

TEST(OfferedKernels, OfLinearAreClean) {
  for (DType dtype : {bf16, f16}) {
    for (int gelu : {0, 1, 2}) {
      TensorFacts matrix = aligned(dtype, 1);
      ops::Problem problem{{.tensors = {matrix, matrix, aligned(dtype, 0), matrix},
                            .flags = {{"bias", 1}, {"gelu", gelu}, {"preactivation", 0}}},
                           {{"M", 4096}, {"N", 4096}, {"K", 4096}}};
      EXPECT_EQ(compile_offered(ops::linear(), problem), gelu != 0 && dtype == f16 ? 5 : 6);
    }
  }
}

/// For training the dots' sums are stored, too.
TEST(OfferedKernels, OfLinearInTrainingAreClean) {
  TensorFacts matrix = aligned(bf16, 1);
  for (int gelu : {1, 2}) {
    ops::Problem problem{{.tensors = {matrix, matrix, aligned(bf16, 0), matrix, matrix},
                          .flags = {{"bias", 1}, {"gelu", gelu}, {"preactivation", 1}}},
                         {{"M", 4096}, {"N", 4096}, {"K", 4096}}};
    EXPECT_EQ(compile_offered(ops::linear(), problem), 5);
  }
}

TEST(OfferedKernels, OfAttentionAreClean) {
  for (int head_dim : {16, 64, 96, 128, 192, 256}) {
    for (int causal : {0, 1}) {
      for (std::int64_t rows : {64, 4096}) {
        TensorFacts tensor = aligned(bf16, 3);
        ops::Problem problem{{.tensors = {tensor, tensor, tensor, tensor, aligned(f32, 2)},
                              .flags = {{"causal", causal}, {"mask", 0}}},
                             {{"I", rows}, {"D", head_dim}, {"E", head_dim}}};
        int expected = rows <= 64 ? 1 : head_dim <= 64 ? 3 : 2;
        EXPECT_EQ(compile_offered(ops::attention(), problem), expected) << head_dim;
      }
    }
  }
}

TEST(OfferedKernels, OfMaskedAttentionAreClean) {
  for (int head_dim : {64, 128, 256}) {
    for (DType mask : {boolean, bf16}) {
      TensorFacts tensor = aligned(bf16, 3);
      ops::Problem problem{{.tensors = {tensor, tensor, tensor, aligned(mask, 3), tensor, aligned(f32, 2)},
                            .flags = {{"causal", 0}, {"mask", mask == boolean ? 1 : 2}}},
                           {{"I", 4096}, {"D", head_dim}, {"E", head_dim}}};
      EXPECT_EQ(compile_offered(ops::attention(), problem), head_dim <= 64 ? 1 : 2)
          << head_dim << " " << name_of(mask);
    }
  }
}

}  // namespace
}  // namespace tessera
