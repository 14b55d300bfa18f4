#include "tile_core/target/bulk.h"

#include <cstdint>
#include <fmt/format.h>

#include "tile_core/ir/channel.h"

namespace tessera {
namespace {

constexpr std::int64_t kAlignment = 16;                     // bytes, of the address and of every stride
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;  // bytes; strides are below
constexpr std::int64_t kMaxSize = std::int64_t{1}
                                  << 31;  // a map takes 2^32, but coordinates are 32-bit signed

std::string why_not_size(const TensorView& view, int dim) {
  const std::int64_t size = view.sizes[static_cast<std::size_t>(dim)];
  if (size == 0) return fmt::format("dim {} has size 0, and a map has no empty dim", dim);
  if (size <= kMaxSize) return "";
  return fmt::format("dim {} has {} elements, and a box starts at one below {}", dim, size, kMaxSize);
}

std::string why_not_stride(const TensorView& view, int dim) {
  const auto d = static_cast<std::size_t>(dim);
  if (view.sizes[d] == 1) return "";  // no index but 0 is ever multiplied by it
  const std::int64_t stride = view.strides[d];
  if (stride <= 0) return fmt::format("dim {} has stride {}, and a map's strides are above 0", dim, stride);
  const std::int64_t element = size_of(view.dtype);
  if (stride >= kMaxStride / element) {
    return fmt::format(
        "dim {} has a stride of {} elements of {} bytes, and a map's strides are below {} bytes", dim, stride,
        element, kMaxStride);
  }
  if (stride * element % kAlignment == 0) return "";
  return fmt::format("dim {} has a stride of {} bytes, and a map's strides are multiples of {}", dim,
                     stride * element, kAlignment);
}

}  // namespace

std::string why_not_bulk(const TensorView& view, int contiguous) {
  if (view.rank < 1 || view.rank > kMaxBulkRank)
    return fmt::format("it has {} dims, and a map has 1 to {}", view.rank, kMaxBulkRank);
  if (contiguous < 0 || contiguous >= view.rank) return "no dim has stride 1";
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  if (address % kAlignment != 0)
    return fmt::format("its address {:#x} is no multiple of {} bytes", address, kAlignment);
  for (int dim = 0; dim < view.rank; ++dim) {
    if (std::string size = why_not_size(view, dim); !size.empty()) return size;
  }
  for (int dim = 0; dim < view.rank; ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    if (dim != contiguous) {
      if (std::string stride = why_not_stride(view, dim); !stride.empty()) return stride;
    } else if (view.sizes[d] > 1 && view.strides[d] != 1) {
      return fmt::format("dim {} has stride {}, and a box is read along a dim of stride 1", dim,
                         view.strides[d]);
    }
  }
  return "";
}

std::string why_not_box(DType dtype, std::span<const int> box, int contiguous, int swizzle) {
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return fmt::format("a swizzle of {} bytes is none of 32, 64 and 128", swizzle);
  for (std::size_t dim = 0; dim < box.size(); ++dim) {
    if (box[dim] < 1 || box[dim] > kMaxBox)
      return fmt::format("a box of {} elements along dim {} is not within 1 to {}", box[dim], dim, kMaxBox);
  }
  const int elements = box[static_cast<std::size_t>(contiguous)];
  if (elements * size_of(dtype) == swizzle) return "";
  return fmt::format("a box of {} elements of {} bytes along dim {} does not fill a swizzle of {} bytes",
                     elements, size_of(dtype), contiguous, swizzle);
}

}  // namespace tessera
