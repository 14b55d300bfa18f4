#include "perf/inputs.h"

#include <ATen/Context.h>
#include <ATen/ops/randn.h>
#include <cmath>

#include "perf/problem.h"
#include "registration/private_ops.h"
#include "tessera/ops.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    case DType::f32:
      return at::kFloat;
    default:
      throw InternalError::format("perf: operators have no dtype {}", name_of(dtype));
  }
}

std::vector<at::Tensor> make_inputs(const CallSpec& spec, at::Device device, std::uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  const CallShape shape = shape_of(spec);
  std::vector<at::Tensor> inputs;
  for (const auto& sizes : shape.shapes) {
    inputs.push_back(at::randn(sizes, generator, at::TensorOptions().dtype(at::kFloat).device(device)));
    const bool is_weight = spec.is_linear() && inputs.size() == 2;
    if (is_weight && sizes[1] > 0) inputs.back().div_(std::sqrt(static_cast<double>(sizes[1])));
    const bool is_boolean = spec.mask == CallSpec::Mask::boolean && inputs.size() == 4;
    constexpr double kQuarter = -0.674;  // below it lies a quarter of the normal distribution
    inputs.back() = is_boolean ? inputs.back().gt(kQuarter) : inputs.back().to(shape.options.dtype);
  }
  return inputs;
}

std::optional<at::Tensor> optional_input(const std::vector<at::Tensor>& inputs, std::size_t place) {
  std::optional<at::Tensor> tensor;
  if (inputs.size() > place) tensor = inputs[place];
  return tensor;
}

double bytes_of(const std::vector<at::Tensor>& tensors) {
  double total = 0;
  for (const at::Tensor& t : tensors) total += static_cast<double>(t.nbytes());
  return total;
}

std::function<at::Tensor()> tessera_call(const CallSpec& spec, const std::vector<at::Tensor>& x) {
  if (spec.op == "add") return [=] { return tessera::add(x[0], x[1]); };
  if (spec.op == "softmax") return [=, dim = spec.dim] { return tessera::softmax(x[0], dim); };
  if (spec.op == "flash_attention")
    return
        [=, causal = spec.causal] { return std::get<0>(tessera::flash_attention(x[0], x[1], x[2], causal)); };
  if (spec.is_attention()) {
    const bool grouped = x[0].size(1) != x[1].size(1);
    return [=, causal = spec.causal, mask = optional_input(x, 3)] {
      return tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask, 0, causal, {}, grouped);
    };
  }
  const std::optional<at::Tensor> bias = optional_input(x, 2);
  if (spec.op == "linear") return [=] { return tessera::linear(x[0], x[1], bias); };
  if (spec.training) return [=] { return run_tessera(spec, x).front(); };
  return [=, approximate = spec.approximate] { return tessera::linear_gelu(x[0], x[1], bias, approximate); };
}

std::vector<at::Tensor> run_tessera(const CallSpec& spec, const std::vector<at::Tensor>& inputs) {
  if (spec.op == "flash_attention") {
    auto [output, logsumexp] = tessera::flash_attention(inputs[0], inputs[1], inputs[2], spec.causal);
    return {output, logsumexp};
  }
  if (!spec.training) return {tessera_call(spec, inputs)()};
  auto [output, product] =
      linear_gelu_with_preactivation(inputs[0], inputs[1], optional_input(inputs, 2), spec.approximate);
  return {output, product};
}

}  // namespace tessera::perf
