#pragma once
#include <cstddef>
#include <optional>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <unordered_map>

namespace tessera {

/// The ranks of the tensors in a method's inlined graph, as far as they are known before it runs: from the
/// types that freezing and tracing leave, of constants, and of the module's attributes, as a linear's weight.
class GraphRanks {
 public:
  explicit GraphRanks(const torch::jit::Module& module) : module_(module) {}

  /// Inside of the graph that a node forks its inputs have other names.
  void enter(const torch::jit::Node* fork);

  /// nullopt: unknown, or no tensor.
  std::optional<std::size_t> of(const torch::jit::Value* value) const;

 private:
  std::optional<c10::IValue> attribute(const torch::jit::Value* value) const;

  torch::jit::Module module_;
  std::unordered_map<const torch::jit::Value*, const torch::jit::Value*> outside_;  // of inputs of forks
};

}  // namespace tessera
