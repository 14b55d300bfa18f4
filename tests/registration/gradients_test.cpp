#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <c10/core/InferenceMode.h>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <torch/csrc/autograd/autograd.h>

#include "tessera/ops.h"
#include "tests/registration/support.h"
#include "tests/support/swallow.h"

// Gradients against those of ATen's formulas in fp64: under policy auto ATen's graph, under tile our own
// nodes.
namespace tessera {
namespace {

using at::Tensor;
using testing::sdpa_math;
using torch::autograd::variable_list;

class Gradients : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, Gradients, testing::kPolicies, testing::name_of_policy);

using Function = std::function<Tensor(const variable_list&)>;

/// An operator, the same in ATen, and inputs for it.
struct Case {
  std::string name;
  Function ours, aten;
  variable_list inputs;
};

std::vector<Case> cases() {
  const Tensor q = at::randn({2, 4, 5, 8}), k = at::randn({2, 2, 6, 8}), v = at::randn({2, 2, 6, 8}),
               m = at::randn({5, 6});
  const Tensor x = at::randn({2, 3, 7}), w = at::randn({4, 7}), b = at::randn({4});
  std::vector<Case> all = {
      {"add",
       [](auto& i) { return tessera::add(i[0], i[1]); },
       [](auto& i) { return at::add(i[0], i[1]); },
       {x, at::randn({3, 1})}},
      {"linear",
       [](auto& i) { return tessera::linear(i[0], i[1], i[2]); },
       [](auto& i) { return at::linear(i[0], i[1], i[2]); },
       {x, w, b}},
      {"linear without bias",
       [](auto& i) { return tessera::linear(i[0], i[1]); },
       [](auto& i) { return at::linear(i[0], i[1]); },
       {x, w}},
      {"linear of a vector",
       [](auto& i) { return tessera::linear(i[0], i[1], i[2]); },
       [](auto& i) { return at::linear(i[0], i[1], i[2]); },
       {x[0][0], w, b}},
      {"softmax",
       [](auto& i) { return tessera::softmax(i[0], 1); },
       [](auto& i) { return at::softmax(i[0], 1); },
       {x}},
      {"sdpa with a mask",
       [](auto& i) {
         return tessera::scaled_dot_product_attention(i[0], i[1], i[2], i[3], 0, false, {}, true);
       },
       [](auto& i) { return sdpa_math(i, false, 0); },
       {q, k, v, m}},
      {"sdpa with a mask of one dim",
       [](auto& i) {
         return tessera::scaled_dot_product_attention(i[0], i[1], i[2], i[3], 0, false, {}, true);
       },
       [](auto& i) { return sdpa_math(i, false, 0); },
       {q, k, v, m[0]}},
      {"sdpa with a negative scale",
       [](auto& i) {
         return tessera::scaled_dot_product_attention(i[0], i[1], i[2], {}, 0, true, -0.4, true);
       },
       [](auto& i) { return sdpa_math(i, true, 0, -0.4); },
       {q, k, v}},
  };
  for (const std::string approximate : {"none", "tanh"}) {
    all.push_back({"linear_gelu " + approximate,
                   [=](auto& i) { return tessera::linear_gelu(i[0], i[1], i[2], approximate); },
                   [=](auto& i) { return at::gelu(at::linear(i[0], i[1], i[2]), approximate); },
                   {x, w, b}});
  }
  for (const bool causal : {false, true}) {
    all.push_back({causal ? "causal sdpa" : "sdpa",
                   [=](auto& i) {
                     return tessera::scaled_dot_product_attention(i[0], i[1], i[2], {}, 0, causal, {}, true);
                   },
                   [=](auto& i) { return sdpa_math(i, causal, 0); },
                   {q, k, v}});
  }
  for (const int64_t diagonal : {-3, 0, 1}) {
    all.push_back(
        {"flash_attention " + std::to_string(diagonal),
         [=](auto& i) { return std::get<0>(tessera::flash_attention(i[0], i[1], i[2], true, diagonal)); },
         [=](auto& i) { return sdpa_math(i, true, diagonal); },
         {q, k, v}});
  }
  return all;
}

variable_list leaves(const variable_list& values, at::ScalarType dtype) {
  variable_list leaves;
  for (const Tensor& value : values) leaves.push_back(value.detach().to(dtype, false, true).requires_grad_());
  return leaves;
}

variable_list gradients(const Function& f, const variable_list& inputs,
                        const std::function<Tensor(const Tensor&)>& grad_of) {
  const Tensor output = f(inputs);
  return torch::autograd::grad({output}, inputs, {grad_of(output)});
}

void expect_gradients(const Case& c, const std::function<Tensor(const Tensor&)>& grad_of,
                      double tolerance = 2e-5) {
  const variable_list got = gradients(c.ours, leaves(c.inputs, at::kFloat), grad_of);
  const variable_list expected = gradients(c.aten, leaves(c.inputs, at::kDouble), [&](const Tensor& y) {
    return grad_of(y.to(at::kFloat)).to(at::kDouble);
  });
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR_TENSOR(got[i], expected[i], tolerance) << c.name << " input " << i;
    EXPECT_EQ(got[i].scalar_type(), at::kFloat);
  }
}

TEST_P(Gradients, MatchFp64) {
  for (const Case& c : cases()) {
    expect_gradients(
        c, [](const Tensor& y) { return at::cos(at::arange(y.numel(), at::kFloat)).view(y.sizes()); });
  }
}

TEST_P(Gradients, B16_ExpandedGradients) {
  for (const Case& c : cases()) {
    expect_gradients(c, [](const Tensor& y) { return at::ones({}, at::kFloat).expand(y.sizes()); });
  }
}

TEST_P(Gradients, B15_B23_StridedGradients) {
  for (const Case& c : cases()) {
    expect_gradients(c, [](const Tensor& y) {
      std::vector<int64_t> sizes = y.sizes().vec();
      sizes.back() *= 2;
      return at::cos(at::arange(2 * y.numel(), at::kFloat)).view(sizes).slice(-1, 0, sizes.back(), 2);
    });
    if (c.inputs[0].dim() != 4) continue;
    expect_gradients(c, [](const Tensor& y) {
      return at::cos(at::arange(y.numel(), at::kFloat))
          .view({y.size(0), y.size(2), y.size(1), y.size(3)})
          .transpose(1, 2);
    });
  }
}

/// Whether a node of ours is in the graph.
bool is_ours(const torch::autograd::Node* node) {
  if (node == nullptr) return false;
  const auto& edges = node->next_edges();
  return node->name().find("tessera") != std::string::npos ||
         std::any_of(edges.begin(), edges.end(),
                     [](const auto& edge) { return is_ours(edge.function.get()); });
}

/// But of the attention that no fused operator of ATen's takes: its graph would hold all scores.
TEST_P(Gradients, GraphsAreAtensWhereThePlanIsNative) {
  const std::set<std::string> composed = {"sdpa with a negative scale", "flash_attention -3",
                                          "flash_attention 1"};
  for (const Case& c : cases()) {
    const Tensor output = c.ours(leaves(c.inputs, at::kFloat));
    EXPECT_EQ(is_ours(output.grad_fn().get()), GetParam() == Policy::tile || composed.count(c.name) == 1)
        << c.name;
  }
}

TEST_P(Gradients, B81_OutputsHaveAGraph) {
  for (const Case& c : cases()) {
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      variable_list inputs;
      for (const Tensor& t : c.inputs) inputs.push_back(t.detach().clone());
      inputs[i].requires_grad_();
      const Tensor y = c.ours(inputs);
      EXPECT_TRUE(y.requires_grad()) << c.name;
      EXPECT_NE(y.grad_fn(), nullptr) << c.name;
    }
  }
}

TEST_P(Gradients, B85_OnlyThoseAskedFor) {
  for (const Case& c : cases()) {
    for (unsigned subset = 1; subset < 1U << c.inputs.size(); ++subset) {
      variable_list inputs = leaves(c.inputs, at::kFloat);
      for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].set_requires_grad((subset >> i & 1U) != 0);
      c.ours(inputs).sum().backward();
      for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(inputs[i].grad().defined(), (subset >> i & 1U) != 0) << c.name << " " << subset;
    }
  }
}

TEST_P(Gradients, B85_UndefinedGradients) {
  for (const Case& c : cases()) {
    const variable_list inputs = leaves(c.inputs, at::kFloat);
    test::Swallow::apply(c.ours(inputs)).sum().backward();
    for (const Tensor& input : inputs)
      EXPECT_TRUE(!input.grad().defined() || !input.grad().any().item<bool>()) << c.name;
  }
}

/// The derivative of the squared first gradients.
variable_list second_derivatives(const Function& f, const variable_list& inputs) {
  const Tensor y = f(inputs);
  const variable_list first =
      torch::autograd::grad({y.square().sum()}, inputs, {}, {}, /*create_graph=*/true);
  Tensor total = at::zeros({}, y.options());
  for (const Tensor& g : first) total = total + g.square().sum();
  return torch::autograd::grad({total}, inputs);
}

TEST_P(Gradients, B82_SecondDerivativesAreRightOrAnError) {
  for (const Case& c : cases()) {
    variable_list got;
    try {
      got = second_derivatives(c.ours, leaves(c.inputs, at::kFloat));
    } catch (const c10::Error& error) {
      EXPECT_NE(std::string(error.what()).find("is not implemented"), std::string::npos)
          << c.name << error.what();
      EXPECT_EQ(GetParam(), Policy::automatic) << c.name;  // ATen's fused attention
      continue;
    }
    const variable_list expected = second_derivatives(c.aten, leaves(c.inputs, at::kDouble));
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR_TENSOR(got[i], expected[i], 2e-3) << c.name << " input " << i;
  }
}

TEST_P(Gradients, TwiceThroughOneGraph) {
  for (const Case& c : cases()) {
    const variable_list inputs = leaves(c.inputs, at::kFloat);
    const Tensor y = c.ours(inputs).sum();
    const variable_list once = torch::autograd::grad({y}, inputs, {}, /*retain_graph=*/true);
    const variable_list twice = torch::autograd::grad({y}, inputs);
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(at::equal(once[i], twice[i])) << c.name;
  }
}

TEST_P(Gradients, B75_SoftmaxGradientHasTheInputsDtype) {
  const Tensor base = at::randn({2, 2, 2, 2}).to(at::kHalf), weight = at::randn({2, 2, 2, 2});
  for (int64_t dim = 0; dim < 4; ++dim) {
    const Tensor x = base.clone().requires_grad_(), wide = base.to(at::kDouble).requires_grad_();
    (tessera::softmax(x, dim, at::kFloat) * weight).sum().backward();
    (at::softmax(wide, dim) * weight).sum().backward();
    EXPECT_EQ(x.grad().scalar_type(), at::kHalf);
    EXPECT_NEAR_TENSOR(x.grad(), wide.grad(), 1e-3) << dim;
  }
}

TEST_P(Gradients, AddGradientsHaveTheirOperandsShapeAndDtype) {
  const Tensor x = at::randn({3, 1, 2}).to(at::kBFloat16).requires_grad_(),
               y = at::randn({4, 1}).requires_grad_();
  tessera::add(x, y).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(x.grad(), at::full({3, 1, 2}, 4).to(at::kBFloat16)));
  EXPECT_TRUE(at::equal(y.grad(), at::full({4, 1}, 6)));
}

TEST_P(Gradients, BiasGradientOfManyRowsIsNotRoundedOnTheWay) {
  const Tensor x = at::zeros({4000, 1}, at::kBFloat16), w = at::zeros({1, 1}, at::kBFloat16);
  const Tensor b = at::zeros({1}, at::kBFloat16).requires_grad_();
  tessera::linear(x, w, b).sum().backward();
  EXPECT_EQ(b.grad().item<float>(), 4000);
}

TEST_P(Gradients, B47_RowsWithoutKeys) {
  for (const auto& [rows, keys] : {std::pair{5, 2}, {13, 3}}) {
    const variable_list x = leaves(
        {at::randn({1, 2, rows, 8}), at::randn({1, 2, keys, 8}), at::randn({1, 2, keys, 8})}, at::kFloat);
    std::get<0>(tessera::flash_attention(x[0], x[1], x[2], true, keys - rows)).sum().backward();
    EXPECT_FALSE(x[0].grad().slice(2, 0, rows - keys).any().item<bool>());
    for (const Tensor& t : x) EXPECT_TRUE(t.grad().isfinite().all().item<bool>());
  }
  const variable_list none =
      leaves({at::randn({1, 2, 5, 8}), at::randn({1, 2, 0, 8}), at::randn({1, 2, 0, 8})}, at::kFloat);
  for (const Tensor& y : {std::get<0>(tessera::flash_attention(none[0], none[1], none[2], true)),
                          tessera::scaled_dot_product_attention(none[0], none[1], none[2])}) {
    const variable_list grads = torch::autograd::grad({y.sum()}, none);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(grads[i], at::zeros_like(none[i])));
  }
}

TEST_P(Gradients, B49_MaskedRows) {
  const variable_list x =
      leaves({at::randn({1, 1, 8, 4}), at::randn({1, 1, 8, 4}), at::randn({1, 1, 8, 4})}, at::kFloat);
  const Tensor mask = at::ones({8, 8}, at::kBool);
  mask[3].fill_(false);
  tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask).sum().backward();
  EXPECT_FALSE(x[0].grad().select(2, 3).any().item<bool>());
  for (const Tensor& t : x) EXPECT_TRUE(t.grad().isfinite().all().item<bool>());
}

TEST_P(Gradients, OfABooleanMaskOfOneDim) {
  const variable_list values = {at::randn({1, 2, 5, 4}), at::randn({1, 2, 6, 4}), at::randn({1, 2, 6, 4})};
  const Tensor mask = at::tensor({1, 0, 1, 1, 0, 1}).to(at::kBool);
  const auto attend = [](const variable_list& x, const Tensor& m) {
    return tessera::scaled_dot_product_attention(x[0], x[1], x[2], m);
  };
  const variable_list x = leaves(values, at::kFloat), y = leaves(values, at::kFloat);
  attend(x, mask).sum().backward();
  attend(y, mask.expand({5, 6})).sum().backward();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR_TENSOR(x[i].grad(), y[i].grad(), 1e-6);
}

TEST_P(Gradients, B65_B67_EmptyTensors) {
  for (const auto& [batch, heads] : {std::pair{0, 3}, {3, 0}}) {
    const variable_list x = leaves(
        {at::randn({batch, heads, 5, 8}), at::randn({batch, heads, 7, 8}), at::randn({batch, heads, 7, 8})},
        at::kFloat);
    tessera::scaled_dot_product_attention(x[0], x[1], x[2]).sum().backward();
    for (const Tensor& t : x) EXPECT_EQ(t.grad().sizes(), t.sizes());
    tessera::scaled_dot_product_attention(x[0], x[1], x[2], at::randn({5, 7})).sum().backward();
    const Tensor half = at::randn({batch, heads, 5, 8}).to(at::kHalf);
    EXPECT_EQ(tessera::scaled_dot_product_attention(half, half, half, at::randn({5, 5})).sizes(),
              half.sizes());
  }
  const variable_list x = leaves({at::randn({0, 21}), at::randn({4, 21}), at::randn({4})}, at::kFloat);
  tessera::linear_gelu(x[0], x[1], x[2]).sum().backward();
  for (const Tensor& t : x) EXPECT_TRUE(at::equal(t.grad(), at::zeros_like(t)));
  const Tensor y = at::randn({10, 0}).requires_grad_();
  tessera::softmax(y, 1).sum().backward();
  EXPECT_EQ(y.grad().sizes(), y.sizes());
}

TEST_P(Gradients, B53_SharedKeysGetTheSum) {
  const Tensor q = at::randn({1, 8, 3, 8});
  const variable_list one = leaves({at::randn({1, 1, 4, 8}), at::randn({1, 1, 4, 8})}, at::kFloat);
  tessera::scaled_dot_product_attention(q, one[0], one[1], {}, 0, false, {}, true).sum().backward();
  const variable_list many = leaves({one[0].detach(), one[1].detach()}, at::kFloat);
  tessera::scaled_dot_product_attention(q, many[0].expand({1, 8, 4, 8}), many[1].expand({1, 8, 4, 8}))
      .sum()
      .backward();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR_TENSOR(one[i].grad(), many[i].grad(), 1e-5);
}

TEST_P(Gradients, LogsumexpHasNone) {
  const Tensor q = at::randn({1, 2, 3, 8}).requires_grad_();
  const auto [output, logsumexp] = tessera::flash_attention(q, q, q);
  EXPECT_TRUE(output.requires_grad());
  EXPECT_FALSE(logsumexp.requires_grad());
}

TEST_P(Gradients, B86_InferenceMode) {
  const Tensor x = at::randn({3, 4}).requires_grad_(), w = at::randn({5, 4});
  Tensor made_there;
  {
    const c10::InferenceMode inference;
    EXPECT_TRUE(tessera::linear_gelu(x, w).is_inference());
    EXPECT_TRUE(tessera::softmax(x, 1).is_inference());
    made_there = at::randn({5, 4});
  }
  EXPECT_FALSE(tessera::linear_gelu(x.detach(), made_there).requires_grad());
  EXPECT_NE(testing::error_of([&] {
              tessera::linear_gelu(x, made_there);
            }).find("Inference tensors cannot be saved for backward"),
            std::string::npos);
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(tessera::linear_gelu(x, w).requires_grad());
}

TEST(GradientsOfPrivateOperators, AreAnError) {
  const Tensor q = at::randn({1, 2, 3, 8}).requires_grad_();
  const auto [output, logsumexp] = tessera::flash_attention(q.detach(), q.detach(), q.detach());
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("tessera::flash_attention_backward", "");
  torch::jit::Stack stack = {output, q, q, q, output, logsumexp, false, 0, c10::IValue()};
  op.callBoxed(stack);
  EXPECT_EQ(testing::error_of([&] { stack[0].toTensor().sum().backward(); }),
            "derivative for tessera::flash_attention_backward is not implemented");
}

TEST(NativeGradients, LongShiftedAttentionHoldsAFewRowsAtATime) {
  at::manual_seed(0);
  Case c = {"long",
            [](auto& i) { return std::get<0>(tessera::flash_attention(i[0], i[1], i[2], true, 100)); },
            [](auto& i) { return sdpa_math(i, true, 100); },
            {at::randn({1, 2, 3000, 4}), at::randn({1, 1, 3100, 4}), at::randn({1, 1, 3100, 4})}};
  expect_gradients(
      c, [](const Tensor& y) { return at::cos(at::arange(y.numel(), at::kFloat)).view(y.sizes()); }, 1e-4);
}

}  // namespace
}  // namespace tessera
