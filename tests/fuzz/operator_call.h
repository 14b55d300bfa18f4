#pragma once
#include <ATen/core/Tensor.h>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/choices.h"

namespace tessera::fuzz {

using Tensors = std::vector<at::Tensor>;

/// A call of one of our operators, of ATen's of the same name, and its formula, all of the same tensors.
struct OperatorCall {
  std::string text;  ///< the operator, its tensors and its other arguments
  Tensors tensors;
  std::function<Tensors(const Tensors&)> ours;
  std::function<Tensors(const Tensors&)> native;
  std::function<Tensors(const Tensors&)> formula;  ///< of tensors in float64, differentiable
  bool sums = false;                               ///< results may be small beside what was added up
  bool is_exact = false;                           ///< bitwise ATen's, strides too
  bool is_spoiled = false;                         ///< one tensor was given another size, rank or dtype
};

/// Random shapes, up to about `largest` a dim, strides, dtypes, masks and flags.
OperatorCall operator_call(Choices& choices, at::Device device, int largest);

}  // namespace tessera::fuzz
