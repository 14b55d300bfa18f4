#pragma once
#include <string>
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "models/linear_gelu.h"
#include "models/multihead_attention.h"

namespace tessera::models {

struct TransformerBlockOptions {
  TransformerBlockOptions(int64_t d_model, int64_t nhead);

  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, num_kv_heads);  ///< of key and value; nhead by default
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(bool, norm_first) = false;  ///< pre-norm: x + f(norm(x)); else post-norm: norm(x + f(x))
  TORCH_ARG(bool, causal) = false;
  TORCH_ARG(double, dropout) = 0;  ///< in training; where torch.nn.TransformerEncoderLayer has it
  TORCH_ARG(double, layer_norm_eps) = 1e-5;
  TORCH_ARG(std::string, approximate) = "none";  ///< of GELU
  TORCH_ARG(Backend, backend) = Backend::tessera;
};

/// torch.nn.TransformerEncoderLayer with GELU, input [B, S, d_model], and its parameter names: self_attn.*,
/// linear1.*, linear2.*, norm1.*, norm2.*.
class TransformerBlockImpl : public torch::nn::Cloneable<TransformerBlockImpl> {
 public:
  TransformerBlockImpl(int64_t d_model, int64_t nhead)
      : TransformerBlockImpl(TransformerBlockOptions(d_model, nhead)) {}
  explicit TransformerBlockImpl(const TransformerBlockOptions& options);

  void reset() override;

  /// [B, S, d_model] -> [B, S, d_model]; padding as in MultiheadAttention.
  at::Tensor forward(const at::Tensor& input, const at::Tensor& padding = {});

  TransformerBlockOptions options;
  MultiheadAttention self_attn = nullptr;
  LinearGelu linear1 = nullptr;
  torch::nn::Linear linear2 = nullptr;
  torch::nn::LayerNorm norm1 = nullptr;
  torch::nn::LayerNorm norm2 = nullptr;
  torch::nn::Dropout dropout = nullptr;   ///< after the activation
  torch::nn::Dropout dropout1 = nullptr;  ///< after self_attn
  torch::nn::Dropout dropout2 = nullptr;  ///< after linear2

 private:
  at::Tensor attend(const at::Tensor& x, const at::Tensor& padding);
  at::Tensor feed_forward(const at::Tensor& x);
};

TORCH_MODULE(TransformerBlock);

}  // namespace tessera::models
