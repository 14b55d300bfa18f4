#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/emulate.h"
#include "tests/support/emulated_result.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/parse.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using test::Arrangement;
using test::Call;
using test::Case;
using test::Setting;

class Text : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Text, ::testing::ValuesIn(test::all_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Text, GivesTheResultOfTheProgram) {
  const Case& c = GetParam();
  for (const Call& call : c.calls) EXPECT_TRUE(test::emulates(c.program, call, {}, c.tolerance));
}

struct Variation {
  const char* name;
  std::vector<const char*> cases;
  std::vector<Setting> settings;
};
void PrintTo(const Variation& v, std::ostream* out) {
  *out << v.name;
}

std::vector<Setting> arrangements() {
  std::vector<Setting> settings;
  for (Arrangement arrangement : test::kArrangements) settings.push_back({.arrangement = arrangement});
  return settings;
}

std::vector<Setting> without_asynchronous_copies() {
  Target target = Target::named("sm_80");
  target.cp_async = false;
  return {{.target = target}};
}

class Varied : public ::testing::TestWithParam<Variation> {};
INSTANTIATE_TEST_SUITE_P(
    Settings, Varied,
    ::testing::Values(
        Variation{"arrangements",
                  {"add_3d_bf16_f32_f32", "linear_bf16_bias_gelu_preactivation", "linear_f32_bias_gelu",
                   "softmax_bf16_f32_resident_3d", "softmax_f32_f32_streaming_2d_inner",
                   "attention_f16_causal_bias", "attention_f16_mask", "dual_gemm", "window", "two_loops",
                   "mixed_dtypes", "scattered_rows", "split_sums", "split_dot"},
                  arrangements()},
        Variation{"stages",
                  {"linear_f16_bias_gelu", "attention_bf16_causal", "nested_loops", "outer_operand",
                   "two_loops", "attention_dkv"},
                  {{.schedule = {.stages = 1}}, {.schedule = {.stages = 3}}, {.schedule = {.stages = 4}}}},
        Variation{
            "warps",
            {"linear_f32_bias_gelu", "softmax_f32_f32_resident_2d", "softmax_bf16_f32_streaming_3d_inner",
             "attention_f32_causal", "reduction_of_a_dot", "dot_times_reduction", "split_sums"},
            {{.schedule = {.warps = 1}}, {.schedule = {.warps = 2}}, {.schedule = {.warps = 8}}}},
        Variation{"vector",
                  {"add_1d_f32_f32_f32", "linear_bf16_gelu", "attention_f16", "split_sums", "split_dot"},
                  {{.schedule = {.vector = 1}},
                   {.schedule = {.vector = 2}},
                   {.schedule = {.vector = 4}},
                   {.schedule = {.vector = 8}}}},
        Variation{"copies",
                  {"linear_f16_bias_gelu", "attention_bf16_causal", "two_loops"},
                  without_asynchronous_copies()}),
    [](const auto& info) { return info.param.name; });

TEST_P(Varied, TextGivesTheResultOfTheProgram) {
  for (const char* name : GetParam().cases) {
    Case c = test::named_case(name);
    for (const Setting& setting : GetParam().settings) {
      EXPECT_TRUE(test::emulates(c.program, c.calls.front(), setting, c.tolerance))
          << name << ": " << to_text(setting);
    }
  }
}

/// How many indices of N are up to each of the bounds, and below it; a bound may stand for none.
Program counts_to_bounds() {
  using namespace dsl;
  Builder p("counts_to_bounds");
  Dim M = p.dim("M"), N = p.dim("N");
  In bounds = p.in("bounds", i64, {M});
  Out up_to = p.out("up_to", boolean, {M, N}), below = p.out("below", boolean, {M, N});
  Tile m = p.grid(M);
  Axis n = p.grid(N, 16);
  up_to(m, n) = n.index() <= bounds(m);
  below(m, n) = n.index() < bounds(m);
  return p.finish();
}

TEST(OneText, ComparesIndicesWithAnyBound) {
  Program program = counts_to_bounds();
  std::vector<std::int64_t> bounds = {std::numeric_limits<std::int64_t>::max(), 3,
                                      std::numeric_limits<std::int64_t>::min()};
  Buffer given(i64, {3}), up_to(boolean, {3, 20}), below(boolean, {3, 20});
  std::ranges::copy(bounds, static_cast<std::int64_t*>(given.view().data));
  std::vector<TensorView> views = {given.view(), up_to.view(), below.view()};
  Facts facts;
  for (const TensorView& view : views) facts.tensors.push_back(test::facts_of(view));
  Program ready = lower(program, {facts, {}, Target::named("sm_90a")});
  test::emulate(emit_cuda(ready, facts, {}, Prelude::emulated), views, {}, Landing::last);
  std::vector<double> expected_up_to, expected_below;
  for (std::int64_t bound : bounds) {
    for (std::int64_t n = 0; n < 20; ++n) {
      expected_up_to.push_back(n <= bound ? 1 : 0);
      expected_below.push_back(n < bound ? 1 : 0);
    }
  }
  EXPECT_EQ(up_to.get(), expected_up_to);
  EXPECT_EQ(below.get(), expected_below);
}

/// The language reduces integers as i64; the operations take every number.
TEST(OneText, ReducesIntegersOf32Bits) {
  for (const char* reduction : {"sum", "max", "min"}) {
    Program program = parse(
        fmt::format("program p stage tile {{\n  dim M\n  dim N\n  axis m:4 grid M\n  axis n:64 all N\n"
                    "  in x: i32(M, N)\n  out y: i32(M)\n  grid m\n  %0: i32[m:4, n:64] = load x(m, n)\n"
                    "  %1: i32[m:4] = reduce_{}<n> %0\n  store y(m), %1\n}}\n",
                    reduction));
    EXPECT_TRUE(test::emulates(program, {{{"M", 5}, {"N", 37}}}, {}, 0)) << reduction;
  }
}

/// Of no lanes and of the ends of the dtype, whose tails are masked; %1 is the reduction's result.
TEST(OneText, ReducesIntegersFromTheEndsOfTheirDtype) {
  struct Case {
    DType dtype;
    double least, greatest;
  };
  for (const Case& c : {Case{i32, -0x1p31, 0x1p31 - 1}, Case{i64, -0x1p63, 0x1p63}}) {
    for (const char* reduction : {"max", "min"}) {
      const bool max = std::string_view(reduction) == "max";
      Program program = parse(
          fmt::format("program p stage tile {{\n  dim M\n  dim N\n  axis m:4 grid M\n  axis n:64 all N\n"
                      "  in x: {0}(M, N)\n  out y: {0}(M)\n  grid m\n  %0: {0}[m:4, n:64] = load x(m, n)\n"
                      "  %1: {0}[m:4] = reduce_{1}<n> %0\n  store y(m), %1\n}}\n",
                      name_of(c.dtype), reduction));
      for (std::int64_t n : {0, 1, 37}) {
        Buffer x(c.dtype, {2, n}), interpreted(c.dtype, {2}), emulated(c.dtype, {2});
        x.set(std::vector<double>(static_cast<std::size_t>(2 * n), max ? c.least : c.greatest));
        interpret(program, {x.view(), interpreted.view()}, {});
        Facts facts;
        const std::vector<TensorView> views = {x.view(), emulated.view()};
        for (const TensorView& view : views) facts.tensors.push_back(test::facts_of(view));
        Program ready = lower(program, {facts, {}, Target::named("sm_90a")});
        test::emulate(emit_cuda(ready, facts, {}, Prelude::emulated), views, {}, Landing::last);
        EXPECT_EQ(interpreted.get(), std::vector<double>(2, max ? c.least : c.greatest)) << reduction;
        EXPECT_EQ(emulated.get(), interpreted.get()) << reduction << " of " << n;
      }
    }
  }
}

TEST(OneText, DividesByZeroAsTheProgramDoes) {
  using namespace dsl;
  Builder p("ratios");
  Dim M = p.dim("M");
  In a = p.in("a", i64, {M}), b = p.in("b", i32, {M});
  Out quotients = p.out("quotients", i64, {M}), rests = p.out("rests", i64, {M});
  Axis m = p.grid(M, 32);
  Tile x = a(m) - 3, y = b(m) - 3;
  quotients(m) = x / y;
  rests(m) = x % y;
  EXPECT_TRUE(test::emulates(p.finish(), {{{"M", 77}}}, {}, 0));
}

}  // namespace
}  // namespace tessera
