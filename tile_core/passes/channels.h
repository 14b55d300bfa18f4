#pragma once
#include <map>
#include <vector>

#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"

namespace tessera {

/// Which channel and slot stands for each tile in shared memory, and for each detour of a tile in registers.
///
/// A loop that carries tiles in shared memory from load to use has a ring: parameter i is the tile of the
/// iteration i later, the body's load is the last. Everything else has a channel of one slot.
class Channels {
 public:
  Channels(const Program& program, const PassContext& context);

  /// Of shared memory, all together.
  std::int64_t bytes() const;
  /// Emits the channels in front of the program.
  void declare(Rewriter& r);
  /// Opens a loop: its ring slots count by this ticket.
  void enter(const Loop& old, ValueId ticket) { tickets_[old.axis] = ticket; }

  bool has_ring(const Loop& loop) const;
  /// The slot of a tile in shared memory, by its old value.
  Slot slot(ValueId old) const;
  /// The slot through which a conversion or a reduction across warps goes, by the old value of its result.
  Slot detour(ValueId old) const { return slot(old); }
  /// The axis along which a reduction's warps stand.
  AxisId warps_axis(ValueId old) const { return warp_axes_.at(old); }

 private:
  struct Plan {
    Type type;
    std::vector<AxisId> order;
    int pitch = 0;
    int swizzle = 0;
    ValueId channel = ValueId::none;
  };
  struct Home {
    std::size_t plan = 0;
    AxisId ring = AxisId::none;  ///< the loop axis whose ticket counts
    int offset = 0;
  };

  static Channel channel_of(const Plan& plan) {
    return {.order = plan.order, .pitch = plan.pitch, .swizzle = plan.swizzle};
  }
  void visit(const Block& block);
  void plan_rings(const Loop& loop);
  void plan_load(ValueId id);
  void plan_detour(const Inst& inst);
  std::size_t add(Type type, std::vector<AxisId> order);

  const Program& p_;
  const PassContext& context_;
  Uses uses_;
  DotPath path_;
  std::vector<Plan> plans_;
  std::map<ValueId, Home> places_;
  std::map<ValueId, AxisId> warp_axes_;
  std::map<ValueId, int> warp_counts_;
  std::map<AxisId, ValueId> tickets_;
};

/// Whether a reduction's operand is spread over warps along the axis.
bool crosses_warps(const Program& program, const Reduce& reduce);

}  // namespace tessera
