#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// How a block's warps split the result of a dot that each of them does for itself (mma.sync).
struct WarpGrid {
  int rows = 1;
  int columns = 1;
  int warps() const { return rows * columns; }
  bool operator==(const WarpGrid&) const = default;
};

/// Rows, columns and contracted lanes of one step of a warp: what one ldmatrix of four matrices reads.
inline constexpr int kWarpStep = 16;

/// Warps' accumulators of dots by mma.sync, or a first operand in registers (then `columns` is the contracted
/// axis, and all warps stand along the rows): PTX ISA, "Matrix Fragments for mma.m16n8k16". Warps take turns
/// in steps of 16 rows and 16 columns, so that no lane's part of an address carries into a warp's.
Layout warp_layout(const Program& program, AxisId rows, AxisId columns, WarpGrid grid);

}  // namespace tessera
