#pragma once
#include "tile_core/ir/uses.h"
#include "tile_core/passes/role_builder.h"

namespace tessera {

/// The rows of a tile that one of the groups that share it has: what the program does on all of them, done on
/// those. Groups that share no tile have all rows.
class GroupRows {
 public:
  /// `builder` writes the group's role; `instance`: its number.
  GroupRows(RoleBuilder& builder, AxisId rows, int groups, ValueId instance);

  /// The same operation, and type, on the group's rows.
  Op of(Op op);
  Type of(Type type) const;
  /// Whether a tile has those rows, so that each group has a part of it.
  bool split(const Type& type) const { return part_.of != AxisId::none && type.has(part_.of); }
  /// A slot, seen by the group.
  Slot of(Slot slot, const Type& tile) const;

  /// Whether the end of the tile's rows bounds a loop, and the first group's rows end a step or more before.
  bool stop_sooner(const Loop& loop) const;
  /// The bound of such a loop, made from the end of the group's rows: never beyond the tile's, where the
  /// producer stops. A group runs the first step if there is one, so that turns are passed alike.
  ValueId end_of(const Loop& loop);

 private:
  bool are(AxisId axis) const { return axis != AxisId::none && axis == part_.of; }
  bool bound(ValueId old) const;
  ValueId bound_of(ValueId old);
  ValueId start_of(ValueId start);

  RoleBuilder& b_;
  const Uses uses_;
  Part part_;
};

}  // namespace tessera
