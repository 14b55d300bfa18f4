#pragma once
#include "tile_core/base/dtype.h"
#include "tile_core/ir/tile_op.h"

namespace tessera {

/// How many products along one tile a dot sums up before it adds them to its result: some where an operand is
/// f32, since the error grows with the square root of the length of a sum; all of 16 bits and in TF32, where
/// tensor cores have an order of their own and what was rounded before weighs more.
constexpr int dot_summands(DType a, DType b, Precision precision, int extent) {
  constexpr int kOfFloats = 32;
  const bool by_parts = (a == f32 || b == f32) && precision == Precision::ieee && extent > kOfFloats;
  return by_parts ? kOfFloats : extent;
}

}  // namespace tessera
