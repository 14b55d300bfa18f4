#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"

namespace tessera {

/// A warpgroup, which issues wgmma, and the rows of one.
inline constexpr int kGroupWarps = 4;
inline constexpr int kDotRows = 64;

/// Why the dots of a program cannot be wgmma on the context's target, with the values; empty where they can.
/// Stage::tile to Stage::laid_out. All dots of a program take one path.
std::string why_not_wgmma(const Program& program, const PassContext& context);
inline bool uses_wgmma(const Program& program, const PassContext& context) {
  return why_not_wgmma(program, context).empty();
}

/// Who does the dots of a program: warpgroups (wgmma), warps (mma.sync, see warp_dots.h), or threads by FMA.
enum class DotPath : std::uint8_t { fma, mma, wgmma };
DotPath dot_path_of(const Program& program, const PassContext& context);

/// The dots of a program, in order.
std::vector<const Dot*> dots_of(const Program& program);

/// How consumer warpgroups share the work: the schedule's choice, or what the tiles' rows allow.
struct Sharing {
  int groups = 1;
  Share share = Share::together;
  /// Groups that one tile's rows are spread over.
  int row_groups() const { return share == Share::alternate ? 1 : groups; }
};
Sharing sharing_of(const Program& program, const PassContext& context);

/// Rows of tiles in a band of the grid, which is walked down its rows first; 1: none. Where both of the last
/// grid axes have tiles, each block shares loads with its neighbours in both directions.
int raster_of(const Program& program, const PassContext& context);

/// The axis of a dot's result that comes from its first operand, and that from its second.
struct DotAxes {
  AxisId rows = AxisId::none;
  AxisId columns = AxisId::none;
};
DotAxes dot_axes(const Program& program, const Dot& dot);

/// Bytes of the swizzle that a tile in shared memory takes: the widest that divides a row of `order`'s
/// fastest axis; 0 where none does.
int swizzle_of(const Program& program, DType dtype, AxisId fastest);

}  // namespace tessera
