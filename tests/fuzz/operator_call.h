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
  /// Native as ATen runs it, by the kernel of its choice, where `native` is a formula of ATen's; else none.
  std::function<Tensors(const Tensors&)> fused;
  std::function<Tensors(const Tensors&)> formula;       ///< of tensors in float64, differentiable
  std::function<double(const Tensors&)> largest_score;  ///< attention's, its magnitude; else none
  double terms = 0;           ///< the size of what results add up, beside which they may be small
  double gradient_terms = 2;  ///< the same of gradients
  bool is_exact = false;      ///< bitwise ATen's, strides too
  bool has_products = false;  ///< which go by TF32 where torch allows it
  bool is_spoiled = false;    ///< one tensor was given another size, rank or dtype
};

/// Random shapes, up to about `largest` a dim, strides, dtypes, masks and flags.
OperatorCall operator_call(Choices& choices, at::Device device, int largest);

}  // namespace tessera::fuzz
