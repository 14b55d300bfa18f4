#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"

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
                   "mixed_dtypes"},
                  arrangements()},
        Variation{"stages",
                  {"linear_f16_bias_gelu", "attention_bf16_causal", "nested_loops", "outer_operand",
                   "two_loops", "attention_dkv"},
                  {{.schedule = {.stages = 1}}, {.schedule = {.stages = 3}}, {.schedule = {.stages = 4}}}},
        Variation{
            "warps",
            {"linear_f32_bias_gelu", "softmax_f32_f32_resident_2d", "softmax_bf16_f32_streaming_3d_inner",
             "attention_f32_causal", "reduction_of_a_dot", "dot_times_reduction"},
            {{.schedule = {.warps = 1}}, {.schedule = {.warps = 2}}, {.schedule = {.warps = 8}}}},
        Variation{"vector",
                  {"add_1d_f32_f32_f32", "linear_bf16_gelu", "attention_f16"},
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

}  // namespace
}  // namespace tessera
