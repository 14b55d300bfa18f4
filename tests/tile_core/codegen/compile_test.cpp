#include "tile_core/runtime/compile.h"

#include <gtest/gtest.h>

#include "examples/attention_masks.h"
#include "ops/operator.h"
#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tests/support/environment.h"
#include "tests/tile_core/codegen/instructions.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/runtime/sass.h"

namespace tessera {
namespace {

/// The NVRTC that the build has found: beside it lies the disassembler.
class WithNvrtc : public ::testing::Environment {
 public:
  void SetUp() override { variable_.emplace("TESSERA_NVRTC", TESSERA_TEST_NVRTC); }

 private:
  std::optional<test::ScopedVariable> variable_;
};
const ::testing::Environment* const kNvrtc = ::testing::AddGlobalTestEnvironment(new WithNvrtc);

/// A call of an operator whose kernels are compiled: all variants that it offers, or the first few.
struct Compiled {
  std::string name;
  const ops::Operator& op;
  ops::Problem problem;
  std::size_t variants = 1;
};

TensorFacts aligned(DType dtype, int contiguous_dim) {
  return {.dtype = dtype, .contiguous_dim = contiguous_dim, .alignment = 16};
}

Compiled add_of(DType dtype) {
  ops::Problem problem{{.tensors = std::vector<TensorFacts>(3, aligned(dtype, 0)), .flags = {{"rank", 1}}},
                       {{"D0", 1 << 20}}};
  return {fmt::format("add {}", name_of(dtype)), ops::add(), problem};
}

Compiled softmax_of(DType dtype, std::int64_t n, bool inner, std::size_t variants) {
  ops::Problem problem{{.tensors = std::vector<TensorFacts>(2, aligned(dtype, inner ? 2 : 1)),
                        .flags = {{"outer", 1}, {"inner", inner ? 1 : 0}}},
                       {{"O0", 1024}, {"N", n}}};
  if (inner) problem.dims["I"] = 100;
  return {fmt::format("softmax {} n={}{}", name_of(dtype), n, inner ? " inner" : ""), ops::softmax(), problem,
          variants};
}

Compiled linear_of(DType dtype, int gelu, std::size_t variants) {
  TensorFacts matrix = aligned(dtype, 1);
  ops::Problem problem{{.tensors = {matrix, matrix, aligned(dtype, 0), matrix},
                        .flags = {{"bias", 1}, {"gelu", gelu}, {"preactivation", 0}}},
                       {{"M", 4096}, {"N", 4096}, {"K", 4096}}};
  return {fmt::format("linear {} gelu={}", name_of(dtype), gelu), ops::linear(), problem, variants};
}

/// Where a call allows TF32.
Compiled in_tf32(Compiled c) {
  c.name += " in TF32";
  c.problem.facts.flags["tf32"] = 1;
  return c;
}

Compiled attention_of(DType dtype, std::int64_t head_dim, std::size_t variants) {
  TensorFacts rows = aligned(dtype, 3);
  ops::Problem problem{
      {.tensors = {rows, rows, rows, rows, aligned(f32, 2)}, .flags = {{"causal", 1}, {"mask", 0}}},
      {{"B", 2}, {"H", 8}, {"G", 4}, {"I", 1000}, {"J", 1111}, {"D", head_dim}, {"E", head_dim}}};
  return {fmt::format("attention {} d={}", name_of(dtype), head_dim), ops::attention(), problem, variants};
}

std::vector<Compiled> operators() {
  return {add_of(bf16),
          add_of(f32),
          softmax_of(bf16, 4096, false, 3),
          softmax_of(f32, 1024, false, 2),
          softmax_of(bf16, 200, true, 2),
          linear_of(bf16, 1, 3),
          linear_of(f32, 2, 1),
          in_tf32(linear_of(f32, 1, 3)),
          in_tf32(linear_of(f32, 0, 5)),
          linear_of(f16, 0, 1),
          attention_of(bf16, 64, 2),
          attention_of(f16, 128, 1),
          attention_of(f32, 128, 1),
          attention_of(bf16, 256, 1),
          attention_of(f32, 256, 1)};
}

class EveryTarget : public ::testing::TestWithParam<const char*> {
 protected:
  /// Why a kernel may not run, or nothing.
  void expect_good(const KernelText& kernel) {
    Cubin cubin = compile(kernel, Target::named(GetParam()));
    std::string complaints;
    for (const std::string& complaint : cubin.complaints()) complaints += complaint + "\n";
    EXPECT_EQ(complaints, "") << kernel.name;
    EXPECT_GT(cubin.registers, 0) << kernel.name;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget,
                         ::testing::Values("sm_80", "sm_86", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& info) { return std::string(info.param); });

/// The variants of a problem that fit the target: another architecture has less shared memory.
std::vector<KernelText> kernels_of(const Compiled& c, const Target& target) {
  std::vector<KernelText> kernels;
  for (const ops::Variant& variant : c.op.space(c.problem, target)) {
    if (kernels.size() == c.variants) break;
    try {
      Program program = c.op.program(c.problem.facts, variant.tiles);
      kernels.push_back(lower_to_cuda(program, c.problem.facts, variant.schedule, target)->kernel);
    } catch (const UserError&) {
      continue;  // too big
    }
  }
  return kernels;
}

TEST_P(EveryTarget, OperatorsCompileWithoutSpills) {
  for (const Compiled& c : operators()) {
    SCOPED_TRACE(c.name);
    std::vector<KernelText> kernels = kernels_of(c, Target::named(GetParam()));
    EXPECT_FALSE(kernels.empty()) << "no variant fits";
    for (const KernelText& kernel : kernels) expect_good(kernel);
  }
}

TEST_P(EveryTarget, ProgramsThatNoOperatorHasCompileWithoutSpills) {
  for (const test::Case& c : test::foreign_cases()) {
    test::Setting setting{.target = Target::named(GetParam())};
    Facts facts = test::facts_of(c.program, c.calls.front(), setting);
    expect_good(lower_to_cuda(c.program, facts, setting.schedule, setting.target)->kernel);
  }
}

/// Its tiles are those of warpgroups; on other paths threads hold so much of one that some spills.
TEST_P(EveryTarget, AttentionOfOneMoreLineCompiles) {
  const Target& target = Target::named(GetParam());
  for (const examples::Line line : {examples::sliding_window, examples::alibi, examples::soft_cap}) {
    const Program program = examples::attention(f16, line);
    const test::Call call{{{"B", 1}, {"H", 2}, {"I", 130}, {"J", 150}, {"D", 64}}};
    const Facts facts = test::facts_of(program, call, {.target = target});
    const KernelText kernel = lower_to_cuda(program, facts, {}, target)->kernel;
    if (target.wgmma) {
      expect_good(kernel);
    } else {
      EXPECT_GT(compile(kernel, target).registers, 0);
    }
  }
}

TEST_P(EveryTarget, AlignedAddAndSoftmaxAccessMemory16BytesAtATime) {
  for (const Compiled& c :
       {add_of(bf16), add_of(f32), softmax_of(bf16, 4096, false, 1), softmax_of(f32, 4096, false, 1)}) {
    SCOPED_TRACE(c.name);
    const Target& target = Target::named(GetParam());
    std::map<std::string, int> found =
        test::counted(sass(compile(kernels_of(c, target).at(0), target)), {"LDG", "STG", "LDL", "STL"});
    bool loads = false;
    bool stores = false;
    for (const auto& [name, count] : found) {
      loads = loads || name.starts_with("LDG");
      stores = stores || name.starts_with("STG");
      EXPECT_NE(name.find(".128"), std::string::npos) << count << " times " << name;
    }
    EXPECT_TRUE(loads && stores);
  }
}

}  // namespace
}  // namespace tessera
