#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// A tile as an operand of a dot.
struct DotOperand {
  const std::vector<AxisId>& axes;
  const Elements& elements;
};
/// The sum over the seen lanes of `axis` of a * b in f32, by fmaf in their order, starting from
/// `accumulator`, a tile over the same axes as the result in any order, or from 0 where it is none.
void dot(Run& run, ValueId result, const DotOperand& a, const DotOperand& b, AxisId axis,
         ValueId accumulator);

}  // namespace tessera::interpreter
