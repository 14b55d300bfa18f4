#include <gtest/gtest.h>

#include "ops/operator.h"
#include "tests/tile_core/codegen/instructions.h"
#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/runtime/sass.h"

/// The machine code of dots by mma.sync.
namespace tessera {
namespace {

using test::counted;

TensorFacts tensor(DType dtype, int contiguous_dim, int alignment = 16) {
  return {.dtype = dtype, .contiguous_dim = contiguous_dim, .alignment = alignment};
}

/// Of a kernel that nothing may be wrong with.
std::string code_of(const Program& program, const Facts& facts, const Schedule& schedule,
                    const Target& target) {
  auto made = lower_to_cuda(program, facts, schedule, target);
  EXPECT_NE(made->kernel.name.find("_mma"), std::string::npos) << made->kernel.name;
  Cubin cubin = compile(made->kernel, target);
  for (const std::string& complaint : cubin.complaints())
    ADD_FAILURE() << made->kernel.name << " " << to_text(schedule) << ": " << complaint;
  return sass(cubin);
}

std::string code_of(const ops::Operator& op, const Facts& facts, const Tiles& tiles, const Schedule& schedule,
                    const Target& target) {
  return code_of(op.program(facts, tiles), facts, schedule, target);
}

Facts linear_facts(DType dtype, const std::vector<TensorFacts>& operands) {
  return {.tensors = {operands[0], operands[1], tensor(dtype, 1)},
          .flags = {{"bias", 0}, {"gelu", 0}, {"preactivation", 0}}};
}

/// What nvdisasm can read: not sm_103a.
class WarpCode : public ::testing::TestWithParam<const char*> {
 protected:
  const Target& target() const { return Target::named(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Targets, WarpCode,
                         ::testing::Values("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& info) { return std::string(info.param); });

/// Of 64 x 64 x 32 a warp: 4 x 8 products a step, and 4 + 4 reads of four matrices for them; those of the
/// first step stand before the loop, too.
TEST_P(WarpCode, OfLinearHasTheInstructionsThatItsTilesAskFor) {
  for (DType dtype : {bf16, f16}) {
    std::string code = code_of(ops::linear(), linear_facts(dtype, {tensor(dtype, 1), tensor(dtype, 1)}),
                               {{"m", 128}, {"n", 128}, {"k", 32}}, {.stages = 3, .warps = 4}, target());
    const char* name = dtype == bf16 ? "HMMA.16816.F32.BF16" : "HMMA.16816.F32";
    EXPECT_EQ(counted(code, {"HMMA"}), (std::map<std::string, int>{{name, 64}}));
    EXPECT_EQ(counted(code, {"LDSM"}), (std::map<std::string, int>{{"LDSM.16.M88.4", 24}}));
    EXPECT_EQ(counted(code, {"LDL", "STL", "FFMA", "LDS.", "PRMT"}), (std::map<std::string, int>{}));
    for (const auto& [copy, count] : counted(code, {"LDGSTS"}))
      EXPECT_NE(copy.find(".128"), std::string::npos) << count << " times " << copy;
  }
}

TEST_P(WarpCode, ReadsWhatIsContiguousAlongTheOtherAxisTransposed) {
  std::string code = code_of(ops::linear(), linear_facts(bf16, {tensor(bf16, 0), tensor(bf16, 0)}),
                             {{"m", 128}, {"n", 128}, {"k", 32}}, {.stages = 3, .warps = 4}, target());
  EXPECT_EQ(counted(code, {"LDSM"}), (std::map<std::string, int>{{"LDSM.16.MT88.4", 24}}));
  EXPECT_EQ(counted(code, {"LDL", "STL"}), (std::map<std::string, int>{}));
}

/// As many products of half the depth. Of f32 that is contiguous along the other axis lanes read words.
TEST_P(WarpCode, OfLinearInTf32RoundsItsOperands) {
  const auto code_where = [&](int contiguous_dim) {
    Facts facts = linear_facts(f32, {tensor(f32, contiguous_dim), tensor(f32, contiguous_dim)});
    facts.flags["tf32"] = 1;
    return code_of(ops::linear(), facts, {{"m", 128}, {"n", 128}, {"k", 16}}, {.stages = 3, .warps = 4},
                   target());
  };
  for (int contiguous_dim : {0, 1}) {
    const std::string code = code_where(contiguous_dim);
    EXPECT_EQ(counted(code, {"HMMA"}), (std::map<std::string, int>{{"HMMA.1688.F32.TF32", 64}}));
    EXPECT_EQ(counted(code, {"LDL", "STL", "FFMA"}), (std::map<std::string, int>{}));
    EXPECT_EQ(counted(code, {"LDSM"}).contains("LDSM.16.M88.4"), contiguous_dim == 1);
    for (const auto& [copy, count] : counted(code, {"LDGSTS"}))
      EXPECT_NE(copy.find(".128"), std::string::npos) << count << " times " << copy;
  }
}

/// What an author may ask for.
TEST_P(WarpCode, OfThreeProductsInTf32HasThemAll) {
  using namespace dsl;
  Builder p("product");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", f32, {M, K}), b = p.in("b", f32, {N, K});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, 128), n = p.grid(N, 64);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 32)) acc += dot(a(m, k), b(n, k), k, Precision::tf32x3);
  out(m, n) = acc;
  const Facts facts{.tensors = {tensor(f32, 1), tensor(f32, 1), tensor(f32, 1)}, .flags = {}};
  const std::string code = code_of(p.finish(), facts, {.warps = 4}, target());
  EXPECT_EQ(counted(code, {"HMMA"}), (std::map<std::string, int>{{"HMMA.1688.F32.TF32", 3 * 64}}));
  EXPECT_EQ(counted(code, {"LDL", "STL", "FFMA"}), (std::map<std::string, int>{}));
}

/// Weights stay in registers: what is read are query, key, and value transposed.
TEST_P(WarpCode, OfAttentionMultipliesRegisters) {
  TensorFacts rows = tensor(bf16, 3);
  Facts facts{.tensors = {rows, rows, rows, rows, tensor(f32, 2)}, .flags = {{"causal", 0}, {"mask", 0}}};
  std::string code =
      code_of(ops::attention(), facts, {{"i", 64}, {"j", 64}, {"d", 64}, {"e", 64}}, {.warps = 4}, target());
  EXPECT_EQ(counted(code, {"HMMA"}), (std::map<std::string, int>{{"HMMA.16816.F32.BF16", 64}}));
  EXPECT_EQ(counted(code, {"LDSM"}),
            (std::map<std::string, int>{{"LDSM.16.M88.4", 20}, {"LDSM.16.MT88.4", 16}}));
  EXPECT_EQ(counted(code, {"LDL", "STL", "STS", "LDS."}), (std::map<std::string, int>{}));
}

/// Compiles every kernel with warps that an operator offers and that fits the target.
void expect_offered_are_clean(const ops::Operator& op, const ops::Problem& problem, const Target& target) {
  int fitting = 0;
  for (const ops::Variant& v : op.space(problem, target)) {
    if (v.schedule.warps == Schedule::kAutomatic) continue;
    try {
      code_of(op, problem.facts, v.tiles, v.schedule, target);
      ++fitting;
    } catch (const UserError&) {  // too big
    }
  }
  EXPECT_GT(fitting, 0);
}

/// Of rows that begin between words too, 16 bytes are read and written at a time.
TEST_P(WarpCode, OfRowsBetweenWordsReadsWordsAround) {
  const TensorFacts matrix = tensor(bf16, 1, 2);
  const std::string code = code_of(ops::linear(), linear_facts(bf16, {matrix, matrix}),
                                   {{"m", 64}, {"n", 64}, {"k", 64}}, {.stages = 2, .warps = 4}, target());
  for (const char* access : {"LDG", "STS"}) {
    const std::map<std::string, int> all = counted(code, {access});
    EXPECT_FALSE(all.empty());
    for (const auto& [name, count] : all)
      EXPECT_NE(name.find(".128"), std::string::npos) << count << " times " << name;
  }
}

TEST_P(WarpCode, OfOfferedLinearIsClean) {
  for (int alignment : {2, 4, 16}) {
    TensorFacts matrix = tensor(bf16, 1, alignment);
    ops::Problem problem{{.tensors = {matrix, matrix, tensor(bf16, 0, alignment), matrix},
                          .flags = {{"bias", 1}, {"gelu", 1}, {"preactivation", 0}}},
                         {{"M", 4000}, {"N", 4001}, {"K", 4001}}};
    expect_offered_are_clean(ops::linear(), problem, target());
  }
}

TEST_P(WarpCode, OfOfferedLinearInTf32IsClean) {
  for (int alignment : {4, 16}) {
    for (int keeps : {0, 1}) {
      TensorFacts matrix = tensor(f32, 1, alignment);
      ops::Problem problem{{.tensors = {matrix, matrix, tensor(f32, 0, alignment), matrix},
                            .flags = {{"bias", 1}, {"gelu", keeps}, {"preactivation", keeps}, {"tf32", 1}}},
                           {{"M", 4000}, {"N", 4001}, {"K", 4001}}};
      if (keeps != 0) problem.facts.tensors.push_back(matrix);
      expect_offered_are_clean(ops::linear(), problem, target());
    }
  }
}

TEST_P(WarpCode, OfOfferedAttentionOfUnalignedRowsIsClean) {
  for (int alignment : {2, 4}) {
    TensorFacts matrix = tensor(f16, 3, alignment);
    ops::Problem problem{
        {.tensors = {matrix, matrix, matrix, matrix, tensor(f32, 2)}, .flags = {{"causal", 1}, {"mask", 0}}},
        {{"I", 4001}, {"D", 102}, {"E", 102}}};
    expect_offered_are_clean(ops::attention(), problem, target());
  }
}

TEST_P(WarpCode, OfOfferedAttentionIsClean) {
  for (int head_dim : {16, 64, 96, 128, 256}) {
    for (std::int64_t rows : {1, 4096}) {
      SCOPED_TRACE(fmt::format("{} {}", head_dim, rows));
      TensorFacts matrix = tensor(f16, 3);
      ops::Problem problem{{.tensors = {matrix, matrix, matrix, matrix, tensor(f32, 2)},
                            .flags = {{"causal", 1}, {"mask", 0}}},
                           {{"I", rows}, {"D", head_dim}, {"E", head_dim}}};
      expect_offered_are_clean(ops::attention(), problem, target());
    }
  }
}

}  // namespace
}  // namespace tessera
