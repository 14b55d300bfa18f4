#pragma once
#include <ATen/core/Tensor.h>
#include <vector>

#include "perf/call_spec.h"

/// What a call should give: the operator's formula in float64 on its rounded inputs.
namespace tessera::perf {

/// fp64, of the shapes of the operator's outputs. Attention is computed head by head.
std::vector<at::Tensor> reference(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// fp64 gradients of the first output's product with `grad`, of every floating-point input. Attention's holds
/// all scores: for small calls.
std::vector<at::Tensor> reference_gradients(const CallSpec& spec, const std::vector<at::Tensor>& inputs,
                                            const at::Tensor& grad);

}  // namespace tessera::perf
