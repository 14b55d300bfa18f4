#pragma once
#include "tile_core/base/dtype.h"

namespace tessera {

/// How many products a dot sums up before it adds them to its result: some of f32, whose error grows with the
/// square root of the length of a sum; all of 16 bits, whose own rounding is far larger.
constexpr int dot_summands(DType operands, int extent) {
  constexpr int kOfFloats = 32;
  return operands == f32 && extent > kOfFloats ? kOfFloats : extent;
}

}  // namespace tessera
