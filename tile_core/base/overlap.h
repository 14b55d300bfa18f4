#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "tile_core/base/tensor_view.h"

namespace tessera {

/// Another tensor of a call whose bytes, from its first element to its last, overlap those of this one; none
/// where it has memory of its own. What starts as 0 has to: the others would read the zeros.
std::optional<std::size_t> overlapping(std::span<const TensorView> tensors, std::size_t index);

}  // namespace tessera
