#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// Evaluates an instruction without effects other than its result: leaves, elementwise operations,
/// reductions, dots of tiles in registers.
void evaluate(Run& run, const Inst& inst);

}  // namespace tessera::interpreter
