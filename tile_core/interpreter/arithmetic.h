#pragma once
#include "tile_core/ir/op.h"

/// What the functions of elementwise operations and reductions compute, before rounding.
namespace tessera::interpreter {

double apply(UnaryFn fn, double a);
double apply(BinaryFn fn, double a, double b);
double apply(ReduceFn fn, double a, double b);

/// div and mod of integers: the quotient rounds down, the remainder has the divisor's sign. The divisor is
/// not 0.
double divide(BinaryFn fn, double a, double b);

/// What a reduction starts from. Integers have no infinities: +-2^62 stands for them.
double identity(ReduceFn fn, DType dtype);

}  // namespace tessera::interpreter
