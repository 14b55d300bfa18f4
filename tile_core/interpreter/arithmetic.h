#pragma once
#include "tile_core/ir/op.h"

/// What the functions of elementwise operations and reductions compute.
namespace tessera::interpreter {

/// Of an operand of this dtype, before rounding.
double apply(UnaryFn fn, DType dtype, double a);
/// Of operands of this dtype, before rounding where they are floats. Among integers and booleans NaN stands
/// for one that nobody knows, since its dtype or a double could not hold it: it may be in a lane that nobody
/// keeps. It gives NaN, but where the other operand decides.
double apply(BinaryFn fn, DType dtype, double a, double b);
/// One step of a reduction, rounded.
double apply(ReduceFn fn, DType dtype, double a, double b);
/// Rounds; NaN where an integer dtype cannot hold the value, as i64 cannot hold a real 2^63.
double rounded(DType dtype, double value);

}  // namespace tessera::interpreter
