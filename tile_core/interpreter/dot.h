#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// The tile over `axes` that is the sum over the seen lanes of `axis` of a * b in f32, by fmaf in their order
/// and sums of dot_summands(), starting from `start`, over the same axes, or from 0 where that is empty.
/// `dtype`: that of the operands.
Elements dot(Run& run, const std::vector<AxisId>& axes, const Tile& a, const Tile& b, AxisId axis,
             DType dtype, const Elements& start);

}  // namespace tessera::interpreter
