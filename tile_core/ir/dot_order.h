#pragma once
#include "tile_core/base/dtype.h"
#include "tile_core/ir/tile_op.h"

namespace tessera {

/// How many products a dot sums up before it adds them to its result: some of f32, whose error grows with the
/// square root of the length of a sum; all where operands are rounded to fewer bits, which errs far more.
constexpr int dot_summands(DType operands, Precision precision, int extent) {
  constexpr int kOfFloats = 32;
  return operands == f32 && precision == Precision::ieee && extent > kOfFloats ? kOfFloats : extent;
}

}  // namespace tessera
