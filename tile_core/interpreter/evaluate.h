#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// Evaluates an instruction without effects other than its result: leaves, elementwise operations,
/// reductions, dots of tiles in registers. Throws UserError on an integer division by zero.
void evaluate(Run& run, const Inst& inst);

}  // namespace tessera::interpreter
