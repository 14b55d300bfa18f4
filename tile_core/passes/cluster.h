#pragma once
#include <string>

#include "tile_core/passes/passes.h"

namespace tessera {

/// The blocks that the schedule has copy for each other, and the axis along which they are neighbours: the
/// one that the most bytes of what loops stream to dots do not depend on, of equal ones the one of the
/// longest tile, then the slowest. Stage::tile.
Cluster cluster_of(const Program& program, const PassContext& context);

/// Why no grid axis serves for the schedule's cluster, axis by axis; empty where one does. Stage::tile.
std::string why_no_cluster(const Program& program, const PassContext& context);

/// The axis along which the blocks of a cluster cut the box of a load, so that each copies whole pieces of a
/// swizzled slot: the slowest of the box; none where it does not divide so.
AxisId cut_axis(const Program& program, const PassContext& context, const Load& load, int blocks);

}  // namespace tessera
