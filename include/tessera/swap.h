#pragma once
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace tessera {

/// One place of a TorchScript module that swap_operators() looked at.
struct SwapNote {
  std::string method;     ///< of the module, "forward"
  std::string operators;  ///< what stood there: "aten::linear + aten::gelu"
  std::string place;      ///< submodules called on the way, and source line: "encoder.linear1 (model.py:12)"
  std::string outcome;    ///< the operator that replaced it, and in which ranks; or why it was left
};

struct SwapResult {
  torch::jit::Module module;
  std::vector<SwapNote> replaced;
  std::vector<SwapNote> left;

  /// One line for each note.
  std::string text() const;
};

/// Rewrites aten::linear followed by aten::gelu, and aten::linear, aten::softmax and
/// aten::scaled_dot_product_attention, into tessera::linear_gelu, linear, softmax and
/// scaled_dot_product_attention, with all their arguments, in every method, also in branches, loops, forks.
///
/// The result is a new module that shares parameters, buffers and attributes with the given one, which stays
/// as it was; where nothing matches it is the given one itself. Calls of submodules' methods are inlined; the
/// submodules' own methods stay as they are. Attention is left where dropout_p is not the constant 0: where
/// it depends on `training`, call eval() and torch::jit::freeze() first.
///
/// What ATen takes in more ranks than ours stays ATen's in those: attention of [B, H, S, D] is replaced, and
/// a linear with a weight [N, K]. Where the rank is not known before the module runs, which is the rule for
/// attention, the graph gets a branch on it, with ATen's operator on the other side.
SwapResult swap_operators(const torch::jit::Module& module);

}  // namespace tessera
