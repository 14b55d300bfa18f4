#pragma once
#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>
#include <tuple>

/// Operators that other operators are made of, called through the dispatcher. Not differentiable.
namespace tessera {

/// Output and the product before the activation, both [*, N].
std::tuple<at::Tensor, at::Tensor> linear_gelu_with_preactivation(const at::Tensor& input,
                                                                  const at::Tensor& weight,
                                                                  const std::optional<at::Tensor>& bias,
                                                                  std::string_view approximate);

/// Gradients of query, key and value for flash_attention(query, key, value, ...) = (output, logsumexp).
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
    const at::Tensor& grad, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& output, const at::Tensor& logsumexp, bool is_causal, int64_t diagonal,
    std::optional<double> scale);

}  // namespace tessera
