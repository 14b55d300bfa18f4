#pragma once
#include <algorithm>

#include "tile_core/base/dtype.h"
#include "tile_core/ir/tile_op.h"

namespace tessera {

/// How many products along one tile a dot sums up by themselves before it adds them to its result; 0: none,
/// each is added to the result. Some where an operand is f32, since the error grows with the length of a sum,
/// in loops over such tiles too; none of 16 bits and in TF32, where tensor cores have an order of their own
/// and what was rounded before weighs more.
constexpr int dot_summands(DType a, DType b, Precision precision, int extent) {
  constexpr int kFewest = 16, kMost = 32;
  const bool by_parts = (a == f32 || b == f32) && precision == Precision::ieee && extent >= kFewest;
  return by_parts ? std::min(extent, kMost) : 0;
}

}  // namespace tessera
