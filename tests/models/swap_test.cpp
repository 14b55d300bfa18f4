#include "tessera/swap.h"

#include <ATen/record_function.h>
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
  EXPECT_EQ(
      summary(result),
      (Lines{"aten::linear -> tessera::linear",
             "aten::scaled_dot_product_attention -> tessera::scaled_dot_product_attention where the rank of "
             "query, key, value is 4",
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

TEST(Swap, LeavesAnOverloadThatWritesIntoItsArgument) {
  jit::Module module = make(R"(
def forward(self, x, o):
    y = torch.gelu(torch.linear(x, self.weight, None, out=o))
    z = torch.linear(x, self.weight)
    return y + torch.gelu(z, approximate="none", out=torch.empty_like(z)) + o
)");
  const SwapResult result = swap_and_compare(module, {torch::randn({5, 4}), torch::zeros({5, 6})});
  EXPECT_EQ(summary(result),
            (Lines{"aten::linear -> tessera::linear", "aten::linear: this overload has no counterpart",
                   "aten::gelu: its input comes from another overload of aten::linear",
                   "aten::gelu: this overload has no counterpart"}));
}

/// As an export or a trace leaves it.
void set_rank(const jit::Module& module, std::size_t input, std::size_t rank) {
  module.get_method("forward").graph()->inputs()[input]->setType(
      c10::TensorType::create(std::nullopt, std::nullopt, rank, std::nullopt));
}

constexpr const char* kAttention =
    "def forward(self, q, k):\n    return torch.scaled_dot_product_attention(q, k, k)\n";

TEST(Swap, LeavesAttentionWhoseRankIsKnownToBeAnother) {
  const jit::Module module = make(kAttention);
  set_rank(module, 1, 3);
  const SwapResult result = swap_and_compare(module, {torch::randn({2, 5, 4}), torch::randn({2, 6, 4})});
  EXPECT_EQ(summary(result),
            (Lines{"aten::scaled_dot_product_attention: the rank of query is 3: only 4 is replaced"}));
}

TEST(Swap, ReplacesAttentionWhoseRankIsKnown) {
  const jit::Module module = make(kAttention);
  for (const std::size_t input : {1, 2}) set_rank(module, input, 4);
  const std::vector<c10::IValue> inputs = {torch::randn({1, 2, 5, 4}), torch::randn({1, 2, 6, 4})};
  const SwapResult result = swap_and_compare(module, inputs);
  EXPECT_EQ(summary(result),
            (Lines{"aten::scaled_dot_product_attention -> tessera::scaled_dot_product_attention"}));
}

/// Calls of torch.ops.tessera, outermost, while it lives.
class OurCalls {
 public:
  OurCalls() {
    count_ = 0;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& f) -> std::unique_ptr<at::ObserverContext> {
          if (std::string(f.name()).starts_with("tessera::")) ++count_;
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~OurCalls() { at::removeCallback(handle_); }
  OurCalls(const OurCalls&) = delete;
  OurCalls& operator=(const OurCalls&) = delete;
  static bool any() { return count_ > 0; }

 private:
  inline static int count_ = 0;
  at::CallbackHandle handle_;
};

/// The same values as before the swap; whether one of our operators ran.
bool runs_ours(const jit::Module& swapped, const jit::Module& module,
               const std::vector<at::Tensor>& tensors) {
  const std::vector<c10::IValue> inputs(tensors.begin(), tensors.end());
  const at::Tensor expected = run(module, inputs);
  const OurCalls calls;
  const at::Tensor found = run(swapped, inputs);
  EXPECT_EQ(found.sizes(), expected.sizes());
  EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-6));
  return calls.any();
}

TEST(Swap, AttentionOfAnyRankRunsAndThatOfRank4IsOurs) {
  const jit::Module module = make(kAttention);
  const SwapResult result = swap_operators(module), again = swap_operators(result.module);
  ASSERT_EQ(result.replaced.size(), 1U);
  EXPECT_EQ(summary(again), Lines{});  // what stayed for other ranks is not replaced again
  std::stringstream file;
  result.module.save(file);
  for (const jit::Module& swapped : {result.module, jit::load(file)}) {
    const auto ours = [&](at::IntArrayRef q, at::IntArrayRef k) {
      return runs_ours(swapped, module, {torch::randn(q), torch::randn(k)});
    };
    EXPECT_TRUE(ours({1, 2, 5, 4}, {1, 2, 6, 4}));
    EXPECT_FALSE(ours({5, 4}, {6, 4}));
    EXPECT_FALSE(ours({2, 5, 4}, {2, 6, 4}));
    EXPECT_FALSE(ours({1, 2, 5, 4}, {2, 6, 4}));
    EXPECT_FALSE(ours({1, 1, 2, 5, 4}, {1, 1, 2, 6, 4}));
  }
}

/// ATen takes weights [K], too. A module's own is known to be [N, K].
TEST(Swap, ALinearWithAWeightOfRankOneStaysAtens) {
  const jit::Module module = make(R"(
def forward(self, x, w):
    return torch.gelu(torch.linear(x, w), approximate="tanh") + torch.linear(x, w)
)");
  const SwapResult result = swap_operators(module);
  EXPECT_EQ(summary(result),
            (Lines{"aten::linear + aten::gelu -> tessera::linear_gelu where the rank of weight is 2",
                   "aten::linear -> tessera::linear where the rank of weight is 2"}));
  EXPECT_TRUE(runs_ours(result.module, module, {torch::randn({5, 4}), torch::randn({6, 4})}));
  EXPECT_FALSE(runs_ours(result.module, module, {torch::randn({5, 4}), torch::randn({4})}));
  jit::Module vector = make("def forward(self, x):\n    return torch.gelu(torch.linear(x, self.bias))\n");
  EXPECT_EQ(summary(swap_and_compare(vector, {torch::randn({5, 6})})),
            (Lines{"aten::linear: the rank of weight is 1: only 2 is replaced",
                   "aten::gelu: the rank of weight is 1: only 2 is replaced"}));
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
  EXPECT_TRUE(result.replaced.back().outcome.starts_with("tessera::scaled_dot_product_attention where "));
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
