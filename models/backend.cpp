#include "models/backend.h"

#include <ATen/ops/add.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "tessera/ops.h"

namespace tessera::models {
namespace {

std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor add(Backend backend, const at::Tensor& self, const at::Tensor& other) {
  return backend == Backend::native ? at::add(self, other) : tessera::add(self, other);
}

at::Tensor linear(Backend backend, const at::Tensor& input, const at::Tensor& weight,
                  const at::Tensor& bias) {
  return backend == Backend::native ? at::linear(input, weight, if_defined(bias))
                                    : tessera::linear(input, weight, if_defined(bias));
}

at::Tensor linear_gelu(Backend backend, const at::Tensor& input, const at::Tensor& weight,
                       const at::Tensor& bias, std::string_view approximate) {
  return backend == Backend::native ? at::gelu(at::linear(input, weight, if_defined(bias)), approximate)
                                    : tessera::linear_gelu(input, weight, if_defined(bias), approximate);
}

at::Tensor attention(Backend backend, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& mask, double dropout, bool causal) {
  bool grouped = query.size(1) != key.size(1);
  return backend == Backend::native ? at::scaled_dot_product_attention(query, key, value, if_defined(mask),
                                                                       dropout, causal, {}, grouped)
                                    : tessera::scaled_dot_product_attention(
                                          query, key, value, if_defined(mask), dropout, causal, {}, grouped);
}

}  // namespace tessera::models
