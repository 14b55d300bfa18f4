#pragma once
#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"
#include "tile_core/target/target.h"

/// The passes, in the order of the pipeline: what each does, and why it stands where it does. A pass is a
/// pure function of the program and the context. It keeps values bitwise unless it says that it reorders
/// sums.
namespace tessera {

/// What a kernel is compiled for.
struct PassContext {
  Facts facts;
  Schedule schedule;
  Target target;
};

/// Folds a sum onto the dot or the product that feeds it, shares equal operations and drops unused ones, so
/// that later passes see one form and no compiler behind them has anything to contract. Reorders: x + dot(a,
/// b) becomes a dot that starts from x; a product that is added is not rounded.
Program simplify(const Program& in, const PassContext& context);

/// Grid axes become arithmetic on the block's index, and every start of an axis a value. Before mask_tails,
/// which compares indices. Reorders what tiles add to an output: it is added in the order of the walk.
Program map_grid(const Program& in, const PassContext& context);

/// Selects the identity in the invalid lanes of what a reduction or a dot sees, unless the lanes hold it
/// already (loads fill with 0). From here an axis is a name and an extent. Before place_tiles: a masked
/// operand is no longer a plain load.
Program mask_tails(const Program& in, const PassContext& context);

/// Registers or shared memory for every tile: a dot reads its operands from shared memory (on tensor cores
/// the first from registers where it is computed there), everything else is in registers. A load that only
/// dots use goes to shared memory directly. Before infer_layouts, which lays out what is in registers.
Program place_tiles(const Program& in, const PassContext& context);

/// Which thread holds which element: dots spread rows and columns, the rest follows them or the widest access
/// to memory. Conversions stand where two layouts meet. Before pipeline_loops, which must not see new loads.
Program infer_layouts(const Program& in, const PassContext& context);

/// Loads into shared memory run ahead of the loop that uses them, by stages - 1 iterations: plain SSA, the
/// same values. Before lower_tiles, which makes rings of what a loop carries in shared memory.
Program pipeline_loops(const Program& in, const PassContext& context);

/// One thread's role asks the copy engine for every tile of a loop, the others' roles compute: a channel for
/// every load that crosses, and for each role the loops and the arithmetic that it needs. Where dots are not
/// wgmma, nothing. A tile that all warpgroups have whole is added to an output by the first. Reorders what
/// they add. After infer_layouts, whose warps it splits.
Program specialize_warps(const Program& in, const PassContext& context);

/// A mask over indices runs only in the iterations of a loop that need it: those whose tile has a lane where
/// the predicate may not hold. Only where tensor cores do the dots: elsewhere the mask costs next to nothing.
/// After specialize_warps, so that each group asks for its own rows.
Program split_masked_loops(const Program& in, const PassContext& context);

/// A dot whose register operand is made from another dot of its iteration trails by one: it is issued beside
/// the next iteration's first dot, and runs under the arithmetic between the two. Plain SSA, the same values.
/// Before lower_tiles, which issues dots in the order that stands here.
Program lag_dots(const Program& in, const PassContext& context);

/// Tiles in shared memory become channels and copies, conversions go through shared memory, reductions across
/// warps become two. Reorders: a sum is taken per thread, warp and block.
Program lower_tiles(const Program& in, const PassContext& context);

/// Waits for copies and barriers, from who writes and reads each slot of each channel; copies that no wait
/// tells apart become one group. A loop whose dot nothing waits for waits at its end for the next iteration's
/// slots. After lower_tiles has fixed the order of all accesses.
Program insert_barriers(const Program& in, const PassContext& context);

/// Offsets of the channels; the only place that can say "too big". Last: nothing after it needs shared
/// memory.
Program plan_shared_memory(const Program& in, const PassContext& context);

}  // namespace tessera
