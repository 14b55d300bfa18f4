#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>

#include "registration/native/native.h"

namespace tessera::native {

at::Tensor linear(const LinearArguments& a) {
  at::Tensor product = at::linear(a.input, a.weight, a.bias);
  return a.activation == Activation::none ? product : at::gelu(product, approximate_of(a.activation));
}

std::tuple<at::Tensor, at::Tensor> linear_gelu_with_preactivation(const LinearArguments& a) {
  at::Tensor product = at::linear(a.input, a.weight, a.bias);
  return {at::gelu(product, approximate_of(a.activation)), product};
}

}  // namespace tessera::native
