#pragma once
#include <string>

#include "tile_core/ir/warp_layout.h"
#include "tile_core/passes/passes.h"

namespace tessera {

/// Why the dots of a program cannot be the warps' (mma.sync) on the context's target, with the values; empty
/// where they can. Stage::tile to Stage::roled. All dots of a program take one path.
std::string why_not_mma(const Program& program, const PassContext& context);

/// How warps split the results of all dots: along the rows where a row's columns belong together, since one
/// reduces over them or multiplies them again; else so that they read the least from shared memory.
WarpGrid warp_grid_of(const Program& program, const PassContext& context);

/// Whether a dot takes its first operand from registers: where another dot leaves it in the threads that
/// multiply it.
bool multiplies_registers(const Program& program, const PassContext& context, const Dot& dot);

}  // namespace tessera
