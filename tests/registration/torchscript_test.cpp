#include <filesystem>
#include <sstream>
#include <thread>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/script.h>

#include "tessera/ops.h"
#include "tests/registration/scripted.h"
#include "tests/registration/support.h"

namespace tessera {
namespace {

using at::Tensor;

Tensor run(const std::string& text, const std::vector<c10::IValue>& inputs) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  torch::jit::GraphExecutor executor(graph, "test");
  torch::jit::Stack stack(inputs);
  executor.run(stack);
  return stack.at(0).toTensor();
}

constexpr const char* kGelu = R"IR(
graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %tanh : str = prim::Constant[value="tanh"]()
  %y : Tensor = tessera::linear_gelu(%x, %w, %b, %tanh)
  return (%y))IR";

TEST(TorchScript, B129_OptionalAndDefaultArguments) {
  const Tensor x = at::randn({3, 4}), w = at::randn({5, 4});
  const std::string none = R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %y : Tensor = tessera::linear(%x, %w, %none)
  return (%y))IR";
  EXPECT_TRUE(at::equal(run(none, {x, w}), at::linear(x, w)));
  const std::string scaled = R"IR(
graph(%q : Tensor):
  %none : NoneType = prim::Constant()
  %zero : float = prim::Constant[value=0.]()
  %no : bool = prim::Constant[value=0]()
  %scale : float = prim::Constant[value=1.]()
  %y : Tensor = tessera::scaled_dot_product_attention(%q, %q, %q, %none, %zero, %no, %scale, %no)
  return (%y))IR";
  const Tensor q = at::randn({1, 2, 3, 4});
  EXPECT_TRUE(at::equal(run(scaled, {q}), at::scaled_dot_product_attention(q, q, q, {}, 0, false, 1.0)));
}

TEST(TorchScript, GradientsFlowThroughAGraph) {
  const Tensor x = at::randn({3, 4}).requires_grad_(), w = at::randn({5, 4}).requires_grad_(),
               b = at::randn({5});
  run(kGelu, {x, w, b}).sum().backward();
  EXPECT_TRUE(x.grad().defined() && w.grad().defined());
}

TEST(TorchScript, SavesAndLoads) {
  std::stringstream file;
  testing::module_of(kGelu).save(file);
  torch::jit::Module loaded = torch::jit::load(file);
  const Tensor x = at::randn({3, 4}), w = at::randn({5, 4}), b = at::randn({5});
  EXPECT_TRUE(at::equal(loaded.forward({x, w, b}).toTensor(), tessera::linear_gelu(x, w, b, "tanh")));
}

TEST(TorchScript, B128_Freezes) {
  torch::jit::Module module = testing::module_of(kGelu);
  module.eval();
  const torch::jit::Module frozen = torch::jit::freeze(module);
  std::stringstream file;
  frozen.save(file);
  torch::jit::Module loaded = torch::jit::load(file);
  const Tensor x = at::randn({3, 4}), w = at::randn({5, 4}), b = at::randn({5});
  EXPECT_TRUE(at::equal(loaded.forward({x, w, b}).toTensor(), tessera::linear_gelu(x, w, b, "tanh")));
}

TEST(TorchScript, UnusedCallsAreDropped) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"IR(
graph(%x : Tensor):
  %y : Tensor = tessera::add(%x, %x)
  return (%x))IR",
                      graph.get());
  torch::jit::EliminateDeadCode(graph);
  EXPECT_EQ(graph->toString().find("tessera::add"), std::string::npos);
}

TEST(TorchScript, B97_OneModuleInManyThreads) {
  torch::jit::Module module = testing::module_of(kGelu);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      const at::NoGradGuard no_grad;
      for (int i = 0; i < 50; ++i) {
        const Tensor x = at::randn({1 + (thread + i) % 5, 4}), w = at::randn({5, 4}), b = at::randn({5});
        const Tensor expected = at::gelu(at::linear(x, w, b), "tanh");
        right += at::equal(module.forward({x, w, b}).toTensor(), expected) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 50);
}

}  // namespace
}  // namespace tessera
