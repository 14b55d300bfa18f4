#pragma once
#include <ATen/core/Tensor.h>
#include <functional>
#include <optional>
#include <vector>

#include "perf/call_spec.h"

/// The tensors of a call, in the order of the operator's arguments, and torch.ops.tessera on them.
namespace tessera::perf {

at::ScalarType scalar_type(DType dtype);

/// Normal values of deviation 1 (weights: 1 / sqrt(K)), the same for the same seed; a boolean mask hides a
/// quarter of the keys.
std::vector<at::Tensor> make_inputs(const CallSpec& spec, at::Device device, std::uint64_t seed = 0);

/// The input of that place, where there is one: a bias, a mask.
std::optional<at::Tensor> optional_input(const std::vector<at::Tensor>& inputs, std::size_t place);

/// Of all of them.
double bytes_of(const std::vector<at::Tensor>& tensors);

/// Our operator on these tensors, to be called often; its first output.
std::function<at::Tensor()> tessera_call(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// The operator's outputs: one; flash_attention: output and logsumexp; in training linear_gelu's output and
/// product, of the operator that its autograd calls.
std::vector<at::Tensor> run_tessera(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

}  // namespace tessera::perf
