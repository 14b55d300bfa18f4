#include "registration/dispatch/shaped_call.h"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/ranges.h>

#include "registration/calls/calls.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/base/nearest.h"

namespace tessera::dispatch {
namespace {

/// Meta tensors of the shapes.
class Tensors {
 public:
  Tensors(const CallShape& call, std::size_t fewest, std::size_t most)
      : shapes_(call.shapes), dtype_(call.options.dtype) {
    if (shapes_.size() < fewest || shapes_.size() > most)
      throw UserError::format("{}: expected the sizes of {} to {} tensors, but got {}", call.op, fewest, most,
                              shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) check_sizes(call.op, i);
  }

  at::Tensor operator[](std::size_t i) const { return of(i, dtype_); }
  std::optional<at::Tensor> optional(std::size_t i, at::ScalarType dtype) const {
    return i < shapes_.size() ? std::optional(of(i, dtype)) : std::nullopt;
  }
  std::optional<at::Tensor> optional(std::size_t i) const { return optional(i, dtype_); }

 private:
  /// Sizes that no tensor has.
  void check_sizes(const std::string& op, std::size_t i) const {
    std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(dtype_));
    bool fits = true;
    for (const std::int64_t size : shapes_[i])
      fits = fits && size >= 0 && !__builtin_mul_overflow(bytes, size, &bytes);
    if (fits) return;
    throw UserError::format(
        "{}: expected sizes of tensor {} from 0 on and of less than 2^63 bytes, but got [{}]", op, i + 1,
        fmt::join(shapes_[i], ", "));
  }

  at::Tensor of(std::size_t i, at::ScalarType dtype) const {
    return at::empty(shapes_[i], at::TensorOptions().dtype(dtype).device(at::kMeta));
  }

  const std::vector<std::vector<int64_t>>& shapes_;
  at::ScalarType dtype_;
};

template <typename Arguments>
Call checked(const Arguments& a) {
  check(a);
  return tessera::call_of(a);
}

Call linear(OperatorName op, const CallShape& shape, Activation activation) {
  const Tensors tensors(shape, 2, 3);
  const at::Tensor input = tensors[0], weight = tensors[1];
  const std::optional<at::Tensor> bias = tensors.optional(2);
  const LinearArguments a{op, input, weight, bias, activation};
  check(a);
  return shape.options.training ? training_call_of(a) : tessera::call_of(a);
}

Call attention(OperatorName op, const CallShape& shape, bool with_mask) {
  const Tensors tensors(shape, 3, with_mask ? 4 : 3);
  const at::Tensor query = tensors[0], key = tensors[1], value = tensors[2];
  const std::optional<at::Tensor> mask = tensors.optional(3, shape.options.mask_dtype);
  const CallOptions& o = shape.options;
  return checked(AttentionArguments{op, query, key, value, mask, 0, o.is_causal, with_mask ? 0 : o.diagonal,
                                    o.scale, true});
}

Call call_of_any(const CallShape& shape) {
  if (shape.op == "add") {
    const Tensors tensors(shape, 2, 2);
    const at::Tensor self = tensors[0], other = tensors[1];
    return checked(AddArguments{self, other});
  }
  if (shape.op == "linear") return linear("linear", shape, Activation::none);
  if (shape.op == "linear_gelu")
    return linear("linear_gelu", shape, activation_from(shape.options.approximate));
  if (shape.op == "softmax") {
    const Tensors tensors(shape, 1, 1);
    const at::Tensor self = tensors[0];
    return checked(SoftmaxArguments{self, shape.options.dim, shape.options.output_dtype});
  }
  if (shape.op == "scaled_dot_product_attention")
    return attention("scaled_dot_product_attention", shape, true);
  if (shape.op == "flash_attention") return attention("flash_attention", shape, false);
  throw UserError::format(
      "no operator is called '{}'; there are add, linear, linear_gelu, softmax, scaled_dot_product_attention "
      "and flash_attention{}",
      shape.op,
      nearest_hint(shape.op, {"add", "linear", "linear_gelu", "softmax", "scaled_dot_product_attention",
                              "flash_attention"}));
}

}  // namespace

Call call_of(const CallShape& shape) {
  try {
    return call_of_any(shape);
  } catch (const c10::Error& error) {
    throw UserError(error.what_without_backtrace());
  }
}

std::optional<autotune::Device> device_of(std::string_view name) {
  if (!name.empty()) return autotune::device_named(name);
  if (c10::cuda::device_count() == 0) return {};
  return device_of(c10::cuda::current_device());
}

}  // namespace tessera::dispatch
