#include "models/transformer_block.h"

#include <torch/types.h>

namespace tessera::models {

TransformerBlockOptions::TransformerBlockOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead), num_kv_heads_(nhead) {}

TransformerBlockImpl::TransformerBlockImpl(const TransformerBlockOptions& options) : options(options) {
  reset();
}

void TransformerBlockImpl::reset() {
  int64_t model = options.d_model(), hidden = options.dim_feedforward();
  torch::nn::LayerNormOptions norm({model});
  norm.eps(options.layer_norm_eps());
  self_attn =
      register_module("self_attn", MultiheadAttention(MultiheadAttentionOptions(model, options.nhead())
                                                          .num_kv_heads(options.num_kv_heads())
                                                          .causal(options.causal())
                                                          .dropout(options.dropout())
                                                          .backend(options.backend())));
  linear1 = register_module(
      "linear1",
      LinearGelu(
          LinearGeluOptions(model, hidden).approximate(options.approximate()).backend(options.backend())));
  linear2 = register_module("linear2", torch::nn::Linear(hidden, model));
  norm1 = register_module("norm1", torch::nn::LayerNorm(norm));
  norm2 = register_module("norm2", torch::nn::LayerNorm(norm));
  dropout = register_module("dropout", torch::nn::Dropout(options.dropout()));
  dropout1 = register_module("dropout1", torch::nn::Dropout(options.dropout()));
  dropout2 = register_module("dropout2", torch::nn::Dropout(options.dropout()));
}

at::Tensor TransformerBlockImpl::attend(const at::Tensor& x, const at::Tensor& padding) {
  return dropout1->forward(self_attn->forward(x, padding));
}

at::Tensor TransformerBlockImpl::feed_forward(const at::Tensor& x) {
  at::Tensor hidden = dropout->forward(linear1->forward(x));
  return dropout2->forward(linear(options.backend(), hidden, linear2->weight, linear2->bias));
}

at::Tensor TransformerBlockImpl::forward(const at::Tensor& input, const at::Tensor& padding) {
  auto plus = [this](const at::Tensor& x, const at::Tensor& y) { return add(options.backend(), x, y); };
  if (options.norm_first()) {
    at::Tensor x = plus(input, attend(norm1->forward(input), padding));
    return plus(x, feed_forward(norm2->forward(x)));
  }
  at::Tensor x = norm1->forward(plus(input, attend(input, padding)));
  return norm2->forward(plus(x, feed_forward(x)));
}

}  // namespace tessera::models
