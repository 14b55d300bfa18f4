#pragma once
#include <map>

#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/passes.h"
#include "tile_core/passes/work_of.h"

namespace tessera {

/// Whether blocks stay and visit tiles in a loop. Stage::tile.
bool is_persistent(const Program& program, const PassContext& context);
/// Whether tiles are ordered by their work. Stage::tile.
bool longest_first(const Program& program, const PassContext& context, const Work& work);

using AxisStarts = std::map<AxisId, ValueId>;

/// The starts of the grid's axes at the position of a number. Positions are counted along the axes, the last
/// axis fastest; where the two last are rastered (in bands of `raster` rows, more than 1), they count as one.
/// A position has one tile or, where blocks form clusters, one for each: then the starts are this block's.
AxisStarts emit_plain_order(Rewriter& r, ValueId number, int raster);

/// The same where `work` differs along one axis, for the walker of the grid (program.h) that takes the
/// positions walker_index, walker_index + walker_count, ... A section is as many tiles of the other axes as
/// share what the second-level cache holds; in it the axis is slowest. The last section goes from the longest
/// tiles to the shortest, the one before it the other way, and so on: tiles of one step of the walkers are
/// alike, also where a section ends. So are the walkers' sums, since in every second step they take their
/// tiles in reverse. Of tiles that are `drawn` each goes to the first walker who is free, and every section
/// from its longest tiles to its shortest.
AxisStarts emit_longest_first(Rewriter& r, ValueId position, const Work& work, bool drawn);

}  // namespace tessera
