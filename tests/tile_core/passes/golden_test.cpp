#include "tests/support/golden.h"

#include <fmt/format.h>

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

struct Subject {
  const char* name;
  const char* of_case;
  Schedule schedule = {};
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.name;
}

class Golden : public ::testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(
    Programs, Golden,
    ::testing::Values(
        Subject{"linear_gelu", "linear_bf16_bias_gelu"}, Subject{"linear_gelu_f32", "linear_f32_bias_gelu"},
        Subject{"linear_gelu_tf32", "linear_f32_tf32_bias_gelu"},
        Subject{"softmax", "softmax_bf16_f32_resident_3d"}, Subject{"attention", "attention_f16_causal"},
        Subject{"roles_linear_gelu", "roles_linear_gelu"},
        Subject{"roles_attention", "roles_attention_causal"}, Subject{"roles_dual_gemm", "roles_dual_gemm"},
        Subject{"scattered_rows", "scattered_rows"}, Subject{"split_dot", "split_dot"},
        Subject{"roles_split_dot", "roles_split_dot"},
        Subject{"roles_linear_gelu_cluster", "roles_linear_gelu", {.stages = 2, .cluster = 2}},
        Subject{"roles_linear_gelu_counter",
                "roles_linear_gelu",
                {.stages = 2, .share = Share::alternate, .grid = Grid::counter}},
        Subject{"roles_attention_counter", "roles_attention_causal", {.stages = 2, .grid = Grid::counter}}),
    [](const auto& info) { return info.param.name; });

/// tests/golden/tile_core/passes/<pass>/<program>.txt: what each pass leaves, and what the first one gets.
TEST_P(Golden, EveryPassLeavesThis) {
  test::Case c = test::named_case(GetParam().of_case);
  test::Setting setting{.schedule = GetParam().schedule};
  auto expect = [&](std::string pass, const Program& program) {
    std::string text = to_text(program);
    std::string test_file = fmt::format("{}/tile_core/passes/{}_test.cpp", TESSERA_TESTS_DIR, pass);
    EXPECT_TRUE(test::matches_golden(GetParam().name, text, test_file.c_str())) << pass;
    EXPECT_EQ(to_text(parse(text)), text) << pass;
  };
  expect("traced", c.program);
  PassContext context{test::facts_of(c.program, c.calls.front(), setting), setting.schedule, setting.target};
  lower(c.program, context, [&](const Pass& pass, const Program& after) { expect(pass.name, after); });
}

}  // namespace
}  // namespace tessera
