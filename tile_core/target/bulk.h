#pragma once
#include <span>
#include <string>

#include "tile_core/base/dtype.h"
#include "tile_core/base/tensor_view.h"

/// What the copy engine (TMA) can copy: boxes of a tensor that a map describes to it.
namespace tessera {

inline constexpr int kMaxBulkRank = 5;  ///< dims of a map

/// Why the copy engine cannot copy boxes of a tensor whose elements stand side by side along dim `contiguous`
/// (-1: along none): a clause with the values, "dim 0 has stride 0, ...". Empty where it can.
std::string why_not_bulk(const TensorView& view, int contiguous);

/// Why it cannot copy boxes of `box` elements, by the tensor's dims, with a swizzle of so many bytes: a
/// clause with the values. Empty where it can.
std::string why_not_box(DType dtype, std::span<const int> box, int contiguous, int swizzle);

}  // namespace tessera
