#pragma once
#include <ATen/core/Tensor.h>
#include <optional>

namespace tessera {

/// A call of softmax.
struct SoftmaxArguments {
  const at::Tensor& self;
  int64_t dim = 0;  ///< as the caller wrote it, may be negative
  std::optional<at::ScalarType> dtype;

  at::ScalarType output_dtype() const { return dtype.value_or(self.scalar_type()); }
  /// dim counted from the front; 0 for a tensor without dims.
  int64_t wrapped_dim() const {
    return dim < 0 && self.dim() > 0 ? dim + self.dim() : std::max<int64_t>(dim, 0);
  }
};

/// Throws c10::Error naming the argument that does not fit; IndexError for dim.
void check(const SoftmaxArguments& a);

}  // namespace tessera
