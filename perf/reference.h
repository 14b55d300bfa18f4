#pragma once
#include <ATen/core/Tensor.h>
#include <vector>

#include "perf/call_spec.h"

/// What a call should give: the operator's formula in float64 on its rounded inputs.
namespace tessera::perf {

/// fp64, of the shapes of what the operator's kernels give: attention's output and logsumexp, in training
/// linear_gelu's output and product, else one. Attention is computed head by head.
std::vector<at::Tensor> reference(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// The logarithm of the sum of attention's weights [B, H, S_q], computed in `dtype`, head by head; -inf for a
/// row that sees no key.
at::Tensor logsumexp(const CallSpec& spec, const std::vector<at::Tensor>& inputs, at::ScalarType dtype);

/// fp64 gradients of the first output's product with `grad`, of every floating-point input. Attention's holds
/// all scores: for small calls.
std::vector<at::Tensor> reference_gradients(const CallSpec& spec, const std::vector<at::Tensor>& inputs,
                                            const at::Tensor& grad);

}  // namespace tessera::perf
