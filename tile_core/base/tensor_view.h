#pragma once
#include <array>
#include <cstdint>

#include "tile_core/base/dtype.h"

namespace tessera {

/// A tensor as kernels see it: sizes and strides in elements, strides of any value, nothing owned.
struct TensorView {
  static constexpr int kMaxRank = 8;

  void* data = nullptr;
  DType dtype = f32;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::int64_t, kMaxRank> strides{};
};

}  // namespace tessera
