#pragma once
#include "tile_core/passes/role_builder.h"

namespace tessera {

/// How the producer, which draws a block's next tile from the counter, tells the consumers its number:
/// through a channel of scalars, whose ticket is that of the tile before. Groups that alternate each take a
/// number of two, and there is one more for the group that does not see the end.
class DrawnTiles {
 public:
  static Type type() { return {.dtype = i64, .slots = 2}; }  ///< one is read while the next comes
  static Channel channel() { return {.pitch = 1}; }

  /// `channel`: none where tiles are not drawn.
  DrawnTiles(ValueId channel, bool alternate) : channel_(channel), alternate_(alternate) {}

  bool drawn() const { return channel_ != ValueId::none; }
  bool alternate() const { return alternate_; }

  /// Draws: the number of the next tile, past the last where there is none.
  ValueId draw(RoleBuilder& b, ValueId tiles, ValueId walkers) const;
  /// Passes it on.
  void pass(RoleBuilder& b, ValueId next, ValueId tiles, ValueId ticket) const;
  /// What has been passed on.
  ValueId take(RoleBuilder& b, ValueId ticket) const;
  /// The first tile of an instance of groups that alternate: the block's own, or what is drawn first.
  ValueId first(RoleBuilder& b, ValueId own, ValueId instance) const;

 private:
  void write(RoleBuilder& b, ValueId next, ValueId ticket) const;

  ValueId channel_;
  bool alternate_;
};

}  // namespace tessera
