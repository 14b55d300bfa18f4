#include "tile_core/base/overlap.h"

namespace tessera {
namespace {

/// Of bytes, the last one excluded.
struct Range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
};

/// Empty where the tensor has no elements.
Range range_of(const TensorView& tensor) {
  std::int64_t lowest = 0, highest = 1;  // elements
  for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d) {
    if (tensor.sizes[d] == 0) return {};
    const std::int64_t reach = (tensor.sizes[d] - 1) * tensor.strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(tensor.data);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uintptr_t>(elements * size_of(tensor.dtype));
  };
  return {at + bytes(lowest), at + bytes(highest)};
}

}  // namespace

std::optional<std::size_t> overlapping(std::span<const TensorView> tensors, std::size_t index) {
  const Range own = range_of(tensors[index]);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Range other = range_of(tensors[i]);
    if (i != index && own.first < other.last && other.first < own.last) return i;
  }
  return std::nullopt;
}

}  // namespace tessera
