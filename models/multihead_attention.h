#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "models/backend.h"

namespace tessera::models {

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads);

  TORCH_ARG(int64_t, embed_dim);
  TORCH_ARG(int64_t, num_heads);
  TORCH_ARG(int64_t, num_kv_heads);  ///< of key and value; divides num_heads, which is the default
  TORCH_ARG(bool, bias) = true;      ///< of all projections
  TORCH_ARG(bool, packed) = true;    ///< one in_proj_weight, or q_proj_weight, k_proj_weight, v_proj_weight
  TORCH_ARG(bool, causal) = false;   ///< row i sees keys j <= i
  TORCH_ARG(double, dropout) = 0;    ///< of the attention weights, in training
  TORCH_ARG(Backend, backend) = Backend::tessera;
};

/// Self-attention with the parameter names of torch.nn.MultiheadAttention: in_proj_weight [E + 2 KV, E] (or
/// its three parts), in_proj_bias [E + 2 KV], out_proj.weight [E, E], out_proj.bias [E], where
/// KV = num_kv_heads * E / num_heads.
class MultiheadAttentionImpl : public torch::nn::Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  /// Throws UserError where heads do not divide.
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);

  /// Makes new parameters, drawn as torch.nn.MultiheadAttention's.
  void reset() override;

  /// input [B, S, E] -> [B, S, E]. padding: undefined, or bool [B, S] that is true for keys to leave out, as
  /// torch's key_padding_mask. A row that sees no key gets out_proj's bias. Throws UserError for other
  /// shapes.
  at::Tensor forward(const at::Tensor& input, const at::Tensor& padding = {});

  MultiheadAttentionOptions options;
  at::Tensor in_proj_weight;                               ///< undefined if not packed
  at::Tensor q_proj_weight, k_proj_weight, v_proj_weight;  ///< undefined if packed
  at::Tensor in_proj_bias;                                 ///< undefined without a bias
  torch::nn::Linear out_proj = nullptr;

 private:
  int64_t kv_dim() const { return options.num_kv_heads() * (options.embed_dim() / options.num_heads()); }
  std::vector<at::Tensor> project(const at::Tensor& input) const;
};

TORCH_MODULE(MultiheadAttention);

}  // namespace tessera::models
