#include "models/multihead_attention.h"

#include <torch/nn/init.h>
#include <torch/types.h>
#include <vector>

#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

void check_options(const MultiheadAttentionOptions& options) {
  auto divides = [](int64_t part, int64_t whole) { return part > 0 && whole % part == 0; };
  if (!divides(options.num_heads(), options.embed_dim()))
    throw UserError::format("MultiheadAttention: expected embed_dim divisible by num_heads but got {} and {}",
                            options.embed_dim(), options.num_heads());
  if (!divides(options.num_kv_heads(), options.num_heads()))
    throw UserError::format(
        "MultiheadAttention: expected num_heads divisible by num_kv_heads but got {} and {}",
        options.num_heads(), options.num_kv_heads());
}

void check_inputs(const at::Tensor& input, const at::Tensor& padding, int64_t embed_dim) {
  if (input.dim() != 3 || input.size(2) != embed_dim)
    throw UserError::format("MultiheadAttention: expected input of shape [B, S, {}] but got {}", embed_dim,
                            c10::str(input.sizes()));
  if (!padding.defined()) return;
  if (padding.scalar_type() != at::kBool || padding.sizes() != input.sizes().slice(0, 2))
    throw UserError::format("MultiheadAttention: expected padding of dtype Bool and shape {} but got {} {}",
                            c10::str(input.sizes().slice(0, 2)), c10::toString(padding.scalar_type()),
                            c10::str(padding.sizes()));
}

/// [B, S, heads D] -> [B, heads, S, D], a view.
at::Tensor split_heads(const at::Tensor& x, int64_t heads) {
  return x.unflatten(2, {heads, -1}).transpose(1, 2);
}

}  // namespace

MultiheadAttentionOptions::MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
    : embed_dim_(embed_dim), num_heads_(num_heads), num_kv_heads_(num_heads) {}

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options) : options(options) {
  check_options(options);
  reset();
}

void MultiheadAttentionImpl::reset() {
  int64_t embed = options.embed_dim(), kv = kv_dim();
  auto weight = [&](const char* name, int64_t rows) {
    return torch::nn::init::xavier_uniform_(register_parameter(name, torch::empty({rows, embed})));
  };
  if (options.packed()) {
    in_proj_weight = weight("in_proj_weight", embed + 2 * kv);
  } else {
    q_proj_weight = weight("q_proj_weight", embed);
    k_proj_weight = weight("k_proj_weight", kv);
    v_proj_weight = weight("v_proj_weight", kv);
  }
  if (options.bias()) in_proj_bias = register_parameter("in_proj_bias", torch::zeros(embed + 2 * kv));
  out_proj = register_module("out_proj",
                             torch::nn::Linear(torch::nn::LinearOptions(embed, embed).bias(options.bias())));
  if (options.bias()) torch::nn::init::zeros_(out_proj->bias);
}

/// Query, key and value, [B, S, heads D]; views of one tensor if packed.
std::vector<at::Tensor> MultiheadAttentionImpl::project(const at::Tensor& input) const {
  int64_t embed = options.embed_dim(), kv = kv_dim();
  if (options.packed())
    return linear(options.backend(), input, in_proj_weight, in_proj_bias)
        .split_with_sizes({embed, kv, kv}, 2);
  std::vector<at::Tensor> biases(3);
  if (in_proj_bias.defined()) biases = in_proj_bias.split_with_sizes({embed, kv, kv});
  return {linear(options.backend(), input, q_proj_weight, biases[0]),
          linear(options.backend(), input, k_proj_weight, biases[1]),
          linear(options.backend(), input, v_proj_weight, biases[2])};
}

at::Tensor MultiheadAttentionImpl::forward(const at::Tensor& input, const at::Tensor& padding) {
  check_inputs(input, padding, options.embed_dim());
  at::Tensor mask;
  if (padding.defined()) {
    mask = padding.logical_not().unsqueeze(1).unsqueeze(1);
    // The operators take a mask or is_causal, not both.
    if (options.causal())
      mask = mask.logical_and(torch::ones({input.size(1), input.size(1)}, mask.options()).tril());
  }
  std::vector<at::Tensor> qkv = project(input);
  at::Tensor out =
      attention(options.backend(), split_heads(qkv[0], options.num_heads()),
                split_heads(qkv[1], options.num_kv_heads()), split_heads(qkv[2], options.num_kv_heads()),
                mask, is_training() ? options.dropout() : 0, options.causal() && !padding.defined());
  return linear(options.backend(), out.transpose(1, 2).flatten(2), out_proj->weight, out_proj->bias);
}

}  // namespace tessera::models
