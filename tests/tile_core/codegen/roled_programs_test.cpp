#include "tests/tile_core/codegen/roled_programs.h"

#include <sstream>

#include "tests/support/emulated_result.h"
#include "tests/support/golden.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"

namespace tessera {
namespace {

using test::Call;
using test::DotProgram;

class DotText : public ::testing::TestWithParam<DotProgram> {};
INSTANTIATE_TEST_SUITE_P(Operands, DotText, ::testing::ValuesIn(test::kDotPrograms),
                         [](const auto& info) { return info.param.name; });

TEST_P(DotText, GivesTheResultOfTheProgram) {
  DotProgram p = GetParam();
  Program program = parse(to_text(p), "hand-made");
  verify(program);
  for (int less : {0, 8}) {
    Call call{{{"M", p.m - less}, {"N", p.n - less % p.n}, {"K", p.k - less}}};
    EXPECT_TRUE(test::emulates_as_it_is(program, call));
  }
}

struct Subject {
  const char* program;
  std::vector<Call> calls;
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.program;
}

class RoledPrograms : public ::testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(
    Programs, RoledPrograms,
    ::testing::Values(
        Subject{"twice_roles", {{{{"M", 11}, {"K", 16}}}, {{{"M", 16}, {"K", 104}}}}},
        Subject{"gemm_turns", {{{{"M", 150}, {"N", 48}, {"K", 16}}}, {{{"M", 64}, {"N", 40}, {"K", 136}}}}},
        Subject{"gemm_parts", {{{{"M", 150}, {"N", 48}, {"K", 16}}}, {{{"M", 300}, {"N", 40}, {"K", 136}}}}},
        Subject{"gemm_counter",
                {{{{"M", 150}, {"N", 48}, {"K", 16}}}, {{{"M", 300}, {"N", 40}, {"K", 136}}}}},
        Subject{"chain_lag", {{{{"S", 75}, {"T", 32}, {"D", 24}}}, {{{"S", 64}, {"T", 150}, {"D", 32}}}}}),
    [](const auto& info) { return info.param.program; });

TEST_P(RoledPrograms, GivesTheResultOfTheProgram) {
  Program program = test::planned(GetParam().program);
  for (const Call& call : GetParam().calls) EXPECT_TRUE(test::emulates_as_it_is(program, call));
}

/// The first tickets of a loop, made from the ticket of another in ways that change nothing.
TEST(Tickets, AreIndices) {
  const Call call{{{"M", 300}, {"N", 40}, {"K", 136}}};
  for (const char* same : {"max %38, %8", "min %38, %10", "mod %38, %10", "div %38, %9", "max %8, %38"}) {
    const std::string text = fmt::format("%90: i64 = {}\n        %43: i64 = mul %90, %24", same);
    EXPECT_TRUE(
        test::emulates_as_it_is(test::changed("gemm_roles", "%43: i64 = mul %38, %24", text.c_str()), call))
        << same;
  }
  const char* sum =
      "%90: i64 = add %38, %38\n        %91: i64 = sub %90, %38\n        %43: i64 = mul %91, %24";
  EXPECT_TRUE(test::emulates_as_it_is(test::changed("gemm_roles", "%43: i64 = mul %38, %24", sum), call));
}

/// What follows the wrappers, without the places of the program.
std::string body(const KernelText& kernel) {
  std::istringstream lines(kernel.text.substr(kernel.text.find("struct Parameters")));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#line")) result += line + "\n";
  }
  return result;
}

TEST_P(RoledPrograms, BodyIsThis) {
  Program program = test::planned(GetParam().program);
  Facts facts = test::facts_of(program, GetParam().calls.front(), {});
  EXPECT_GOLDEN(GetParam().program, body(emit_cuda(program, facts, {})));
}

TEST(DeviceProgram, RecipeHasTheMaps) {
  Program program = test::planned("gemm_turns");
  Call call{{{"M", 128}, {"N", 32}, {"K", 16}}};
  KernelText kernel = emit_cuda(program, test::facts_of(program, call, {}), {.blocks = 2});
  EXPECT_TRUE(kernel.persistent);
  EXPECT_EQ(kernel.blocks, 2);
  EXPECT_EQ(kernel.name, "tessera_gemm_m64_n32_k16_wgmma");
  EXPECT_EQ(kernel.threads, 384);
  TensorMap a{.tensor = 0, .contiguous = 1, .box = {64, 16}, .swizzle = 32};
  TensorMap b{.tensor = 1, .contiguous = 1, .box = {32, 16}, .swizzle = 32};
  TensorMap out{.tensor = 3, .contiguous = 1, .box = {64, 32}, .swizzle = 64};
  EXPECT_EQ(kernel.maps, (std::vector<TensorMap>{a, b, out}));
}

/// What the emitter says of the smallest dot after one piece of its text is another.
std::string complaint(const std::string& from, const std::string& to, int contiguous_dim = 1) {
  std::string text = to_text(test::kDotPrograms[0]);
  std::size_t place = text.find(from);
  if (place == std::string::npos) return "no such text: " + from;
  Program program = parse(text.replace(place, from.size(), to), "hand-made");
  Facts facts{.tensors = std::vector<TensorFacts>(3, {.dtype = bf16, .contiguous_dim = contiguous_dim})};
  try {
    emit_cuda(program, facts, {});
    return "none";
  } catch (const InternalError& error) {
    return error.what();
  }
}

TEST(DeviceProgram, ErrorsSayWhatTheEmitterCannot) {
  const std::string prefix = "internal tessera error: codegen: 'dots': ";
  EXPECT_EQ(complaint("role warps 4 elected", "role warps 4"),
            prefix + "a bulk copy in a role of more than one thread");
  EXPECT_EQ(complaint("role warps 4 {", "role warps 8 {"),
            prefix + "an issued dot's result is not a warpgroup's fragments");
  EXPECT_EQ(complaint("swizzle 32 offset 0", "pitch 16 offset 0"),
            prefix + "the copy engine's boxes are atoms, and a slot that is not swizzled has none");
  EXPECT_EQ(complaint("", "", 0), prefix + "rows of a slot are along dim 1 of 'a', which is not contiguous");
}

}  // namespace
}  // namespace tessera
