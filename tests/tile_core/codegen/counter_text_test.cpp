#include "tests/support/cases.h"
#include "tests/support/emulate.h"
#include "tests/support/emulated_result.h"
#include "tests/tile_core/codegen/roled_programs.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"

// The text of kernels whose blocks draw their tiles from a counter; emulated, two blocks run side by side.
namespace tessera {
namespace {

using test::Call;
using test::Case;

TEST(CounterText, GivesTheResultOfTheProgram) {
  const Program program = test::planned("gemm_counter");
  for (std::int64_t M : {60, 150, 700}) {
    for (std::int64_t K : {16, 136}) {
      EXPECT_TRUE(test::emulates_as_it_is(program, {{{"M", M}, {"N", 40}, {"K", K}}})) << M << " " << K;
    }
  }
}

TEST(CounterText, OfOperatorsGivesTheResultOfTheProgram) {
  for (const char* name :
       {"roles_linear_gelu", "roles_attention", "roles_attention_causal", "roles_batch_dot"}) {
    const Case c = test::named_case(name);
    for (const Call& call : c.calls)
      EXPECT_TRUE(
          test::emulates(c.program, call, {.schedule = {.stages = 2, .grid = Grid::counter}}, c.tolerance))
          << name;
  }
  const Case linear = test::named_case("roles_linear_gelu");
  for (const Call& call : linear.calls) {
    EXPECT_TRUE(test::emulates(linear.program, call,
                               {.schedule = {.stages = 2, .share = Share::alternate, .grid = Grid::counter}},
                               linear.tolerance));
  }
}

KernelText kernel_of(const Program& program, const Call& call) {
  return emit_cuda(program, test::facts_of(program, call, {}), {}, Prelude::emulated);
}

std::string error_of(const KernelText& kernel, const Program& program, const Call& call) {
  std::vector<Buffer> tensors = test::arguments(program, call);
  std::vector<TensorView> views;
  for (Buffer& tensor : tensors) views.push_back(tensor.view());
  try {
    test::emulate(kernel, views, {}, Landing::last);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "none";
}

/// The kernel with one piece of its text replaced.
KernelText changed(KernelText kernel, const std::string& from, const std::string& to) {
  const std::size_t place = kernel.text.rfind(from);
  EXPECT_NE(place, std::string::npos) << from;
  if (place != std::string::npos) kernel.text.replace(place, from.size(), to);
  return kernel;
}

/// Mistakes in what draws and passes a tile on.
TEST(CounterText, IsWatchedByItsEmulation) {
  const Program program = test::planned("gemm_counter");
  const Call call{{{"M", 700}, {"N", 40}, {"K", 16}}};
  const KernelText kernel = kernel_of(program, call);
  EXPECT_EQ(error_of(kernel, program, call), "none");
  EXPECT_TRUE(
      error_of(changed(kernel, "static_cast<unsigned>(v23))", "static_cast<unsigned>(v14))"), program, call)
          .ends_with("ends and leaves its counter at 12"));
  EXPECT_TRUE(error_of(changed(kernel, "static_cast<unsigned>(v23))", "0)"), program, call)
                  .find("draws one of no tiles") != std::string::npos);
}

TEST(CounterText, RecipeHasTheCounter) {
  const Program program = test::planned("gemm_counter");
  const KernelText kernel = kernel_of(program, {{{"M", 128}, {"N", 32}, {"K", 16}}});
  EXPECT_TRUE(kernel.persistent);
  EXPECT_TRUE(kernel.counter);
  EXPECT_EQ(kernel.parameters.back(), Parameter{Parameter::Kind::counter});
  EXPECT_NE(kernel.text.find("  int64 counter;\n};"), std::string::npos);
}

}  // namespace
}  // namespace tessera
