#include "tessera/swap.h"

#include <gtest/gtest.h>
#include <sstream>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "tests/models/files.h"

namespace tessera {
namespace {

namespace jit = torch::jit;

/// A module with weight [6, 4] and bias [6] and these methods.
jit::Module make(const std::string& source) {
  torch::manual_seed(3);
  jit::Module module("Model");
  module.register_parameter("weight", torch::randn({6, 4}), /*is_buffer=*/false);
  module.register_parameter("bias", torch::randn({6}), /*is_buffer=*/false);
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(source);
  return module;
}

std::string graph_text(const jit::Module& module) {
  return module.get_method("forward").graph()->toString();
}

at::Tensor run(jit::Module module, std::vector<c10::IValue> inputs) {
  torch::manual_seed(5);  // of dropout
  return module.forward(std::move(inputs)).toTensor();
}

/// "aten::x -> tessera::x" of every replaced place and "aten::x: reason" of every one left.
std::vector<std::string> summary(const SwapResult& result) {
  std::vector<std::string> lines;
  for (const SwapNote& note : result.replaced) lines.push_back(note.operators + " -> " + note.outcome);
  for (const SwapNote& note : result.left) lines.push_back(note.operators + ": " + note.outcome);
  return lines;
}

using Lines = std::vector<std::string>;

/// Swaps, and checks that the given module stays as it is and that both give the same value.
SwapResult swap_and_compare(const jit::Module& module, const std::vector<c10::IValue>& inputs) {
  std::string before = graph_text(module);
  SwapResult result = swap_operators(module);
  EXPECT_EQ(graph_text(module), before);
  result.module.get_method("forward").graph()->lint();
  EXPECT_TRUE(torch::allclose(run(result.module, inputs), run(module, inputs), 1e-5, 1e-6));
  return result;
}

TEST(Swap, FusesLinearAndGelu) {
  jit::Module module = make(R"(
def forward(self, x):
    return torch.gelu(torch.linear(x, self.weight, self.bias), approximate="tanh")
)");
  SwapResult result = swap_and_compare(module, {torch::randn({5, 4})});
  EXPECT_EQ(summary(result), (Lines{"aten::linear + aten::gelu -> tessera::linear_gelu"}));
  jit::Graph& graph = *result.module.get_method("forward").graph();
  for (jit::Node* node : graph.nodes()) {
    EXPECT_NE(node->kind(), c10::aten::gelu);
    if (node->kind() != c10::Symbol::fromQualString("tessera::linear_gelu")) continue;
    EXPECT_EQ(jit::toIValue(node->input(3))->toStringRef(), "tanh");
  }
}

TEST(Swap, ReadsItsInputsWhereTheLinearReadThem) {
  jit::Module module = make(R"(
def forward(self, x):
    y = torch.linear(x, self.weight)
    x.add_(1)
    return torch.gelu(y) + x.sum()
)");
  SwapResult result = swap_operators(module);
  EXPECT_EQ(summary(result), (Lines{"aten::linear + aten::gelu -> tessera::linear_gelu"}));
  at::Tensor x = torch::randn({5, 4});
  EXPECT_TRUE(torch::allclose(run(result.module, {x.clone()}), run(module, {x.clone()}), 1e-5, 1e-6));
}

TEST(Swap, ReplacesTheOthersWithAllTheirArguments) {
  jit::Module module = make(R"(
def forward(self, x, mask):
    q = torch.linear(x, self.weight, self.bias)
    k = q[:, :1]
    out = torch.scaled_dot_product_attention(q, k, k, mask, 0.0, False, scale=0.3, enable_gqa=True)
    return torch.softmax(out, 1, dtype=7)  # float64
)");
  SwapResult result = swap_and_compare(module, {torch::randn({2, 4, 5, 4}), torch::randn({5, 5})});
  EXPECT_EQ(summary(result),
            (Lines{"aten::linear -> tessera::linear",
                   "aten::scaled_dot_product_attention -> tessera::scaled_dot_product_attention",
                   "aten::softmax -> tessera::softmax"}));
  EXPECT_EQ(run(result.module, {torch::randn({2, 4, 5, 4}), torch::randn({5, 5})}).scalar_type(),
            torch::kDouble);
}

TEST(Swap, SaysWhatItLeavesAndWhy) {
  jit::Module module = make(R"(
def forward(self, x, approximate: str, p: float):
    once = torch.linear(x, self.weight, self.bias)
    twice = torch.gelu(once) + once
    sum = torch.gelu(twice) + torch.gelu(x[:, :1])
    sum = sum + torch.gelu(torch.linear(x, self.weight), approximate=approximate)
    outer = torch.linear(x, self.weight)
    if p > 2.0:
        sum = torch.gelu(outer)
    q = sum.view(1, 1, -1, 6)
    a = torch.scaled_dot_product_attention(q, q, q, None, 0.25)
    b = torch.scaled_dot_product_attention(q, q, q, None, p)
    return a + b + torch.addmm(self.bias, x, self.weight.t())
)");
  SwapResult result = swap_and_compare(module, {torch::randn({5, 4}), "tanh", 0.0});
  EXPECT_EQ(
      summary(result),
      (Lines{"aten::linear -> tessera::linear", "aten::linear -> tessera::linear",
             "aten::linear -> tessera::linear",
             "aten::gelu: the result of aten::linear is used elsewhere too",
             "aten::gelu: its input comes from aten::add, not from aten::linear",
             "aten::gelu: its input comes from aten::slice, not from aten::linear",
             "aten::gelu: approximate is not a constant", "aten::gelu: aten::linear is outside its block",
             "aten::scaled_dot_product_attention: dropout_p is 0.25: only 0 is replaced",
             "aten::scaled_dot_product_attention: dropout_p is not a constant: call eval() and "
             "torch::jit::freeze() first",
             "aten::addmm: it may be an aten::linear that a pass took apart: swap before "
             "torch::jit::optimize_for_inference()"}));
}

TEST(Swap, GivesTheModuleItselfWhereNothingMatches) {
  jit::Module module = make("def forward(self, x):\n    return torch.gelu(x)\n");
  SwapResult result = swap_operators(module);
  EXPECT_EQ(result.module._ivalue(), module._ivalue());
  EXPECT_EQ(result.text(),
            "0 replaced, 1 left\n  forward: aten::gelu at <string>:2 left: its input is an argument, not the "
            "result of aten::linear");
}

TEST(Swap, ARunBeforeItChangesNothing) {
  jit::Module module =
      make("def forward(self, x):\n    return torch.softmax(torch.linear(x, self.weight), -1)\n");
  for (int i = 0; i < 3; ++i) run(module, {torch::randn({5, 4})});
  EXPECT_EQ(swap_and_compare(module, {torch::randn({5, 4})}).replaced.size(), 2u);
}

TEST(Swap, SharesParametersAndTheirGradients) {
  jit::Module module =
      make("def forward(self, x):\n    return torch.gelu(torch.linear(x, self.weight, self.bias))\n");
  module.attr("weight").toTensor().requires_grad_();
  SwapResult result = swap_operators(module);
  run(result.module, {torch::randn({5, 4})}).sum().backward();
  EXPECT_TRUE(module.attr("weight").toTensor().grad().defined());
}

TEST(Swap, RewritesEveryMethodAndLoops) {
  jit::Module module = make(R"(
def helper(self, x):
    return torch.gelu(torch.linear(x, self.weight, self.bias))

def other(self, x):
    return x + 1

def forward(self, x):
    for i in range(2):
        x = self.helper(x)[:, :4]
    return x
)");
  SwapResult result = swap_and_compare(module, {torch::randn({5, 4})});
  ASSERT_EQ(result.replaced.size(), 2u);
  EXPECT_EQ(result.replaced[0].method, "helper");
  EXPECT_EQ(result.replaced[1].method, "forward");
}

class SwapFile : public ::testing::Test {
 protected:
  jit::Module module_ = jit::load(models::source_file("tests/models/scripted.pt"));
  std::vector<c10::IValue> inputs_ = {torch::randn({2, 3, 8}), true};
};

TEST_F(SwapFile, ReplacesInSubmodulesFunctionsBranchesAndForks) {
  module_.eval();
  SwapResult result = swap_and_compare(module_, inputs_);
  EXPECT_EQ(result.text(), R"(7 replaced, 1 left
  forward: aten::linear + aten::gelu at 0.steps.0 (linear.py:14) -> tessera::linear_gelu
  forward: aten::linear at 0.steps.2 (___torch_mangle_0.py:14) -> tessera::linear
  forward: aten::linear + aten::gelu at 1.steps.0 (linear.py:14) -> tessera::linear_gelu
  forward: aten::linear at 1.steps.2 (___torch_mangle_0.py:14) -> tessera::linear
  forward: aten::linear at ___torch_mangle_1.py:14 -> tessera::linear
  forward: aten::linear + aten::gelu at last (___torch_mangle_1.py:14) -> tessera::linear_gelu
  forward: aten::softmax at functional.py:12 -> tessera::softmax
  forward: aten::scaled_dot_product_attention at __torch__.py:34 left: dropout_p is not a constant: call eval() and torch::jit::freeze() first)");
}

TEST_F(SwapFile, AFrozenModuleLosesItsDropout) {
  module_.eval();
  jit::Module frozen = jit::freeze(module_);
  SwapResult result = swap_and_compare(frozen, inputs_);
  EXPECT_EQ(result.left.size(), 0u) << result.text();
  EXPECT_EQ(result.replaced.back().outcome, "tessera::scaled_dot_product_attention");
}

TEST_F(SwapFile, SaysWhereAnOptimizedModuleHasNoLinearLeft) {
  module_.eval();
  jit::Module optimized = jit::optimize_for_inference(module_);
  SwapResult result = swap_operators(optimized);
  Lines lines = summary(result);
  EXPECT_TRUE(
      std::ranges::count(lines,
                         "aten::matmul: it may be an aten::linear that a pass took apart: swap before "
                         "torch::jit::optimize_for_inference()") > 0)
      << result.text();
  EXPECT_TRUE(torch::allclose(run(result.module, inputs_), run(module_, inputs_), 1e-5, 1e-6));
}

TEST_F(SwapFile, ASwappedModuleSavesAndLoads) {
  module_.eval();
  SwapResult result = swap_operators(module_);
  std::stringstream file;
  result.module.save(file);
  jit::Module loaded = jit::load(file);
  EXPECT_TRUE(run(loaded, inputs_).equal(run(result.module, inputs_)));
  EXPECT_NE(graph_text(loaded).find("tessera::linear_gelu"), std::string::npos);
}

TEST_F(SwapFile, TrainingModeIsKept) {
  SwapResult result = swap_and_compare(module_, inputs_);
  EXPECT_TRUE(result.module.is_training());
  result.module.eval();
  EXPECT_TRUE(module_.is_training());
}

TEST(SwapCorners, LeavesInterfacesAndWhatAWithSeparates) {
  jit::Module module = jit::load(models::source_file("tests/models/corners.pt"));
  SwapResult result = swap_and_compare(module, {torch::randn({3, 8})});
  EXPECT_EQ(summary(result),
            (Lines{"aten::linear -> tessera::linear", "aten::gelu: a `with` is between it and aten::linear",
                   "prim::CallMethod: it cannot be inlined: its object is known by an interface only"}));
}

}  // namespace
}  // namespace tessera
