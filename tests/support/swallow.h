#pragma once
#include <torch/csrc/autograd/custom_function.h>

namespace tessera::test {

/// Gives its input no gradient: an undefined one.
struct Swallow : torch::autograd::Function<Swallow> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    return {at::Tensor()};
  }
};

}  // namespace tessera::test
