#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// The warps whose threads issue a dot together.
inline constexpr int kWarpgroup = 4;

/// A warpgroup's accumulators of issued dots, or a first operand in registers (then `columns` is the
/// contracted axis): PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16". 64 rows or a multiple.
Layout warpgroup_layout(const Program& program, AxisId rows, AxisId columns);

}  // namespace tessera
