#pragma once
#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>

/// The operators that the modules need, native and tessera side by side. Shapes and errors: tessera/ops.h.
namespace tessera::models {

/// Whose operators a module calls: ATen's or Tessera's. Parameters are the same, values agree to rounding.
enum class Backend { native, tessera };

at::Tensor add(Backend backend, const at::Tensor& self, const at::Tensor& other);

at::Tensor linear(Backend backend, const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias);

at::Tensor linear_gelu(Backend backend, const at::Tensor& input, const at::Tensor& weight,
                       const at::Tensor& bias, std::string_view approximate);

/// Heads are grouped where query and key differ in their number. mask may be undefined.
at::Tensor attention(Backend backend, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& mask, double dropout, bool causal);

}  // namespace tessera::models
