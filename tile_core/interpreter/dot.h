#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// What a dot's operands are, and what it makes of them.
struct DotKind {
  DType a;
  DType b;
  Precision precision = Precision::ieee;
};

/// The tile over `axes` that is the sum over the seen lanes of `axis` of a * b in f32, by fmaf in their order
/// and sums of dot_summands(), starting from `start`, over the same axes, or from 0 where that is empty.
Elements dot(Run& run, const std::vector<AxisId>& axes, const Tile& a, const Tile& b, AxisId axis,
             const DotKind& kind, const Elements& start);

}  // namespace tessera::interpreter
