#include "tile_core/codegen/cuda.h"

#include <sstream>

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tests/support/golden.h"
#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

KernelText emitted(const Program& program, const test::Call& call) {
  test::Setting setting;
  Facts facts = test::facts_of(program, call, setting);
  return emit_cuda(lower(program, {facts, setting.schedule, setting.target}), facts, setting.schedule);
}

/// What follows the wrappers, without the places of the operator's file.
std::string body(const std::string& text) {
  std::istringstream lines(text.substr(text.find("struct Parameters")));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#line")) result += line + "\n";
  }
  return result;
}

struct Subject {
  const char* name;
  const char* of_case;
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.name;
}

class Cuda : public ::testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(Operators, Cuda,
                         ::testing::Values(Subject{"add", "add_3d_bf16_f32_f32"},
                                           Subject{"linear_gelu", "linear_bf16_bias_gelu"},
                                           Subject{"linear_gelu_f32", "linear_f32_bias_gelu"},
                                           Subject{"softmax", "softmax_bf16_f32_resident_3d"},
                                           Subject{"attention", "attention_f16_causal"},
                                           Subject{"split_sums", "split_sums"},
                                           Subject{"roles_split_dot", "roles_split_dot"}),
                         [](const auto& info) { return info.param.name; });

TEST_P(Cuda, BodyIsThis) {
  test::Case c = test::named_case(GetParam().of_case);
  EXPECT_GOLDEN(GetParam().name, body(emitted(c.program, c.calls.front()).text));
}

TEST(Cuda, TextIsOneUnitWithoutIncludesAndRefersToTheOperatorsFile) {
  test::Case c = test::named_case("linear_bf16_bias_gelu");
  KernelText kernel = emitted(c.program, c.calls.front());
  EXPECT_EQ(kernel.text.find("#include"), std::string::npos);
  EXPECT_NE(kernel.text.find("\"ops/linear.cpp\""), std::string::npos);
  EXPECT_EQ(kernel.name, "tessera_linear_gelu_m16_n32_k16_mma");
}

TEST(Cuda, RecipeNamesEveryField) {
  using Kind = Parameter::Kind;
  test::Case c = test::named_case("attention_dq");
  KernelText kernel = emitted(c.program, c.calls.front());
  std::vector<Parameter> expected;
  for (int tensor = 0; tensor < static_cast<int>(c.program.tensors.size()); ++tensor) {
    expected.push_back({Kind::pointer, tensor});
    auto rank = static_cast<int>(c.program.tensors[static_cast<std::size_t>(tensor)].dims.size());
    for (int dim = 0; dim < rank; ++dim) expected.push_back({Kind::stride, tensor, dim});
  }
  for (auto [tensor, dim] : {std::pair(0, 0), {1, 0}, {0, 1}, {2, 1}})  // I, J, D, E
    expected.push_back({Kind::size, tensor, dim});
  expected.push_back({Kind::scalar_f32, 0});
  EXPECT_EQ(kernel.parameters, expected);
  EXPECT_EQ(kernel.grid, (std::vector<GridAxis>{{0, 0, 16}}));
}

TEST(Cuda, TakesReadyProgramsOnly) {
  test::Case c = test::named_case("gram");
  try {
    emit_cuda(c.program, {}, {});
    ADD_FAILURE() << "no error";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "internal tessera error: codegen: 'gram' is at Stage::tile, not ready");
  }
}

/// Names that nothing may depend on.
template <typename Table>
void rename(Table& table, const char* what, std::vector<std::pair<std::string, std::string>>& names) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::string name = fmt::format("z{}{}z", what, i);
    names.emplace_back(name, table[i].name);
    table[i].name = name;
  }
}

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

class Renamed : public ::testing::TestWithParam<test::Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Renamed, ::testing::ValuesIn(test::all_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Renamed, GivesTheSameTextApartFromNames) {
  const test::Case& c = GetParam();
  Program renamed = c.program;
  test::Call call = c.calls.front();
  std::vector<std::pair<std::string, std::string>> names = {{"zprogramz", c.program.name}};
  renamed.name = "zprogramz";
  rename(renamed.dims, "dim", names);
  rename(renamed.axes, "axis", names);
  rename(renamed.tensors, "tensor", names);
  rename(renamed.scalars, "scalar", names);
  for (std::size_t i = 0; i < renamed.dims.size(); ++i)
    call.dims[renamed.dims[i].name] = call.dims.at(c.program.dims[i].name);
  for (std::size_t i = 0; i < renamed.scalars.size(); ++i)
    call.scalars[renamed.scalars[i].name] = call.scalars.at(c.program.scalars[i].name);
  std::string text = emitted(renamed, call).text;
  for (const auto& [now, before] : names) text = replaced_all(text, now, before);
  EXPECT_EQ(text, emitted(c.program, c.calls.front()).text);
}

/// "No limit" is the largest int64, from which an index can be taken once only.
TEST(Cuda, ANumberOfTheCallBoundsIndicesWhateverItIs) {
  using namespace dsl;
  Builder p("limited");
  Dim M = p.dim("M");
  In x = p.in("x", f32, {M});
  Out out = p.out("out", f32, {M});
  Tile limit = p.scalar("limit", i64);
  Axis m = p.grid(M, 64);
  out(m) = where(m.index() <= limit, x(m), 0);
  Program program = p.finish();
  for (double value : {-3.0, 70.0, 0x1p62, -0x1p62}) {
    test::Call call{{{"M", 100}}, {{"limit", value}}};
    EXPECT_TRUE(test::emulates(program, call, {}, 0)) << value;
    EXPECT_NE(emitted(program, call).text.find("as_bound(v"), std::string::npos);
  }
}

TEST(Cuda, NamesMayMeanSomethingInCpp) {
  test::Case c = test::named_case("attention_dq");
  const char* words[] = {"float", "double", "int",    "shared", "thread", "lane",
                         "p",     "left",   "stride", "size",   "if"};
  std::size_t next = 0;
  Program p = c.program;
  test::Call call = c.calls.front();
  for (TensorDecl& tensor : p.tensors) tensor.name = words[next++];
  p.scalars.front().name = "float";
  call.scalars["float"] = 0.5;
  for (AxisInfo& axis : p.axes) axis.name = words[--next];
  EXPECT_TRUE(test::emulates(p, call, {}, c.tolerance));
}

}  // namespace
}  // namespace tessera
