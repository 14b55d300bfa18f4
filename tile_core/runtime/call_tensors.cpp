#include "tile_core/runtime/call_tensors.h"

#include "tile_core/base/error.h"

namespace tessera {
namespace {

const TensorView& tensor_with_dim(const KernelText& kernel, std::span<const TensorView> tensors, int index,
                                  int dim) {
  const TensorView& tensor = tensor_at(kernel, tensors, index);
  if (dim >= 0 && dim < tensor.rank) return tensor;
  throw InternalError::format("kernel {} asks for dim {} of tensor {}, which has rank {}", kernel.name, dim,
                              index, tensor.rank);
}

}  // namespace

const TensorView& tensor_at(const KernelText& kernel, std::span<const TensorView> tensors, int index) {
  const auto i = static_cast<std::size_t>(index);
  if (i < tensors.size()) return tensors[i];
  throw InternalError::format("kernel {} asks for tensor {}, and the call has {}", kernel.name, index,
                              tensors.size());
}

std::int64_t size_at(const KernelText& kernel, std::span<const TensorView> tensors, int index, int dim) {
  return tensor_with_dim(kernel, tensors, index, dim).sizes[static_cast<std::size_t>(dim)];
}

std::int64_t stride_at(const KernelText& kernel, std::span<const TensorView> tensors, int index, int dim) {
  return tensor_with_dim(kernel, tensors, index, dim).strides[static_cast<std::size_t>(dim)];
}

}  // namespace tessera
