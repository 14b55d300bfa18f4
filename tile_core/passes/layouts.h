#pragma once
#include <vector>

#include "tile_core/passes/dot_path.h"

namespace tessera {

/// Layouts that infer_layouts starts from.

/// Warps of a block for tiles of this many elements: about 64 elements a thread, within 1 to 8 warps.
int warps_for(std::int64_t elements);

/// Rows and columns of a dot's result over the block: neighbouring lanes along the columns, warps along the
/// rows. `column_vector` neighbouring columns are one thread's, so that they are read at once.
Layout dot_layout(const Program& program, const std::vector<AxisId>& rows, const std::vector<AxisId>& columns,
                  int warps, int column_vector);

/// Rows and columns of wgmma's accumulators: 64 rows a warpgroup and instruction, each of `row_groups`
/// warpgroups the same number of rows (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
Layout wgmma_layout(const Program& program, AxisId rows, AxisId columns, int row_groups);

/// A tile that is read or written along `contiguous` with accesses of `vector` elements: lanes along that
/// axis first, warps along the others first, so that a reduction along it stays in a warp where it can.
Layout access_layout(const Program& program, const std::vector<AxisId>& axes, AxisId contiguous, int vector,
                     int warps);

/// The same of a tile beside the accumulators of a wgmma: its warps go along the dot's rows where the tile
/// has them, and hold the same where not, so that each warpgroup has its rows and nothing is reduced across
/// warps. The accumulators' own layout where the tile fits it: no conversion between the two is needed then.
Layout layout_beside_wgmma(const Program& program, const std::vector<AxisId>& axes, AxisId contiguous,
                           int vector, const DotAxes& dot, int row_groups);

}  // namespace tessera
