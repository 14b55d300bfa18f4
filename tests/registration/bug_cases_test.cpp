#include <ATen/core/dispatch/Dispatcher.h>
#include <functional>
#include <random>
#include <set>
#include <torch/csrc/autograd/autograd.h>

#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/ops.h"
#include "tests/registration/support.h"

// Cases of public bug reports (docs/bug_cases.md) that belong to no operator's own file.
namespace tessera {
namespace {

using at::Tensor;
using testing::attention_in_fp64;
using torch::autograd::variable_list;

class BugCases : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, BugCases, testing::kPolicies, testing::name_of_policy);

TEST_P(BugCases, B09_RowsOfAnyLength) {
  for (const int64_t n : {2049, 16385, 46336, 65535, 65536, 65537}) {
    const Tensor x = at::randn({2, n}).requires_grad_(), grad = at::randn({2, n});
    const Tensor wide = x.detach().to(at::kDouble).requires_grad_();
    const Tensor got = tessera::softmax(x, 1), expected = at::softmax(wide, 1);
    EXPECT_NEAR_TENSOR(got, expected, 1e-6) << n;
    EXPECT_NEAR_TENSOR(torch::autograd::grad({got}, {x}, {grad})[0],
                       torch::autograd::grad({expected}, {wide}, {grad.to(at::kDouble)})[0], 1e-6)
        << n;
  }
}

TEST_P(BugCases, B12_ManyPositionsBesideTheReducedDim) {
  const auto check = [](at::IntArrayRef sizes, int64_t dim) {
    const Tensor x = at::randn(sizes);
    EXPECT_NEAR_TENSOR(tessera::softmax(x, dim), at::softmax(x.to(at::kDouble), dim), 1e-6) << sizes << dim;
  };
  check({1, 2, 65536, 1}, 1);
  check({1, 65536, 6}, 0);
  check({65536, 2}, 1);
  check({2, 3, 11, 7, 5}, 1);
}

TEST_P(BugCases, B58_LargeHeadDims) {
  for (const int64_t d : {256, 257, 320, 512, 1024}) {
    const Tensor q = at::randn({1, 1, 3, d}), k = at::randn({1, 1, 5, d});
    const auto attend = [&] { return tessera::scaled_dot_product_attention(q, k, k, {}, 0, true); };
    if (GetParam() == Policy::tile && d > 256) {
      EXPECT_EQ(testing::error_of(attend),
                "scaled_dot_product_attention(): the policy is tile, but no tile kernel supports head dim " +
                    std::to_string(d) + ", above 256. Policy auto runs ATen here");
    } else {
      EXPECT_NEAR_TENSOR(attend(), attention_in_fp64(q, k, k, testing::tril(3, 5)).output, 1e-5) << d;
    }
  }
}

/// A call, and inputs that it is differentiated by.
struct Differentiated {
  const char* name;
  std::function<Tensor(const variable_list&)> run;
  variable_list inputs;
};

std::vector<Differentiated> small_calls() {
  const Tensor x = at::randn({2, 3}), w = at::randn({4, 3}), b = at::randn({4}), rows = at::randn({2, 5});
  const Tensor q = at::randn({1, 2, 3, 4}), k = at::randn({1, 2, 3, 4}), v = at::randn({1, 2, 3, 4});
  const auto attention = [](const char* name, bool causal, const variable_list& inputs) {
    return Differentiated{name,
                          [causal](const variable_list& t) {
                            return tessera::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal, {},
                                                                         true);
                          },
                          inputs};
  };
  return {{"linear", [](auto& t) { return tessera::linear(t[0], t[1], t[2]); }, {x, w, b}},
          {"gelu", [](auto& t) { return tessera::linear_gelu(t[0], t[1], t[2]); }, {x, w, b}},
          {"tanh", [](auto& t) { return tessera::linear_gelu(t[0], t[1], t[2], "tanh"); }, {x, w, b}},
          {"softmax of rows", [](auto& t) { return tessera::softmax(t[0], 1); }, {rows}},
          {"softmax of columns", [](auto& t) { return tessera::softmax(t[0], 0); }, {rows}},
          attention("attention", false, {q, k, v}),
          attention("causal attention", true, {q, k, v}),
          attention("grouped heads", true, {q, k.slice(1, 0, 1), v.slice(1, 0, 1)})};
}

variable_list leaves_of(const variable_list& inputs) {
  variable_list leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.clone().requires_grad_());
  return leaves;
}

TEST_P(BugCases, B89_GradientsAreCentralDifferences) {
  constexpr float kStep = 1e-2F;
  for (const Differentiated& call : small_calls()) {
    const variable_list inputs = leaves_of(call.inputs);
    const Tensor output = call.run(inputs), weights = at::randn_like(output);
    const auto weighted = [&](const variable_list& t) {
      return (call.run(t) * weights).sum(at::kDouble).item<double>();
    };
    const variable_list gradients = torch::autograd::grad({output}, inputs, {weights});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      variable_list moved = call.inputs;
      moved[i] = moved[i].clone();
      const Tensor elements = moved[i].flatten(), gradient = gradients[i].flatten();
      for (int64_t e = 0; e < elements.numel(); ++e) {
        const Tensor element = elements[e];
        element.add_(kStep);
        const double above = weighted(moved);
        element.sub_(2 * kStep);
        const double below = weighted(moved);
        element.add_(kStep);
        EXPECT_NEAR(gradient[e].item<double>(), (above - below) / (2 * kStep), 2e-2)
            << call.name << " input " << i << " element " << e;
      }
    }
  }
}

TEST_P(BugCases, B137_CallsLeaveTheirInputsAndRepeat) {
  for (const Differentiated& call : small_calls()) {
    const variable_list inputs = leaves_of(call.inputs);
    const Tensor first = call.run(inputs), weights = at::randn_like(first), kept = weights.clone();
    EXPECT_TRUE(at::equal(first, call.run(inputs))) << call.name;
    first.backward(weights);
    variable_list once;
    for (const Tensor& t : inputs) once.push_back(t.grad().clone());
    call.run(inputs).backward(weights);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(at::equal(inputs[i], call.inputs[i])) << call.name << " input " << i;
      EXPECT_TRUE(at::equal(inputs[i].grad(), 2 * once[i])) << call.name << " input " << i;
    }
    EXPECT_TRUE(at::equal(weights, kept)) << call.name;
  }
}

TEST(NativeBugCases, B42_Bf16GradientsOfManyRowsAndFewKeys) {
  at::manual_seed(0);
  const variable_list values = {at::randn({12, 3, 1030, 8}), at::randn({12, 3, 17, 8}),
                                at::randn({12, 3, 17, 8})};
  const auto gradients = [&](at::ScalarType dtype) {
    variable_list leaves;
    for (const Tensor& t : values) leaves.push_back(t.to(at::kBFloat16).to(dtype).requires_grad_());
    const Tensor output = tessera::scaled_dot_product_attention(leaves[0], leaves[1], leaves[2]);
    return torch::autograd::grad({output}, leaves, {at::ones_like(output)});
  };
  const variable_list expected = gradients(at::kFloat);
  for (int repetition = 0; repetition < 50; ++repetition) {
    const variable_list got = gradients(at::kBFloat16);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR_TENSOR(got[i], expected[i], 3e-2) << i;
  }
}

/// The kernels that calls of these shapes run on an H200 under policy tile.
std::size_t kernels_of(const std::string& op, const std::vector<std::vector<std::vector<int64_t>>>& shapes) {
  const autotune::Device device = autotune::device_named("H200");
  std::set<const Kernel*> kernels;
  for (const auto& shape : shapes) {
    const Call call = dispatch::call_of({op, shape});
    const ops::Problem problem = call.problem();
    const autotune::Plan plan = dispatch::plan_of(call.op(), problem, device, Policy::tile);
    EXPECT_TRUE(plan.tile.has_value()) << op;
    kernels.insert(dispatch::lowered(call.op(), problem.facts, plan.tile.value(), device.target).kernel);
  }
  return kernels.size();
}

/// Kernels are specialised on a listed set of facts, never on a length: 50 are the most for an operator,
/// dtype and head dim.
TEST(KernelsOfShapes, B134_NewLengthsAreNoNewKernels) {
  std::vector<std::vector<std::vector<int64_t>>> attention, linear, softmax;
  for (int64_t n = 1; n <= 2000; ++n) {
    attention.push_back(std::vector<std::vector<int64_t>>(3, {1, 2, n, 64}));
    linear.push_back({{n, 64}, {2001 - n, 64}});
    softmax.push_back({{4, n}});
  }
  EXPECT_LE(kernels_of("flash_attention", attention), 50U);
  EXPECT_LE(kernels_of("linear_gelu", linear), 50U);
  EXPECT_LE(kernels_of("softmax", softmax), 50U);
}

/// No call measures anything: a plan comes from records or the cost model. What a batch of another length
/// costs is at most another kernel, of few.
TEST(KernelsOfShapes, B141_BatchesOfAnyLengthShareKernels) {
  std::mt19937 random(1);
  std::vector<std::vector<std::vector<int64_t>>> shapes;
  for (int i = 0; i < 200; ++i)
    shapes.push_back({{std::uniform_int_distribution<int64_t>(1, 4096)(random), 768}, {3072, 768}});
  EXPECT_LE(kernels_of("linear", shapes), 13U);  // one for each power of two
}

}  // namespace
}  // namespace tessera
