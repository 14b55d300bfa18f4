#include "tile_core/passes/drawn_tiles.h"

namespace tessera {

ValueId DrawnTiles::draw(RoleBuilder& b, ValueId tiles, ValueId walkers) const {
  const ValueId before = b.emit(DrawTile{tiles}, kIndex);
  return b.arithmetic(BinaryFn::add, before, walkers);
}

void DrawnTiles::write(RoleBuilder& b, ValueId next, ValueId ticket) const {
  const Slot slot{.channel = channel_, .ticket = ticket};
  b.statement(PassSlot{SlotStep::acquire, slot});
  b.statement(WriteShared{slot, next});
  b.statement(PassSlot{SlotStep::commit, slot});
}

void DrawnTiles::pass(RoleBuilder& b, ValueId next, ValueId tiles, ValueId ticket) const {
  write(b, next, ticket);
  if (!alternate_) return;
  If last{.condition = b.emit(Binary{BinaryFn::le, tiles, next}, kCondition), .then = {}, .otherwise = {}};
  Block* outer = b.enter(&last.then);
  write(b, next, b.arithmetic(BinaryFn::add, ticket, b.constant(1)));
  b.enter(outer);
  b.statement(std::move(last));
}

ValueId DrawnTiles::take(RoleBuilder& b, ValueId ticket) const {
  const Slot slot{.channel = channel_, .ticket = ticket};
  b.statement(PassSlot{SlotStep::wait, slot});
  const ValueId next = b.emit(ReadShared{slot}, kIndex);
  b.statement(PassSlot{SlotStep::release, slot});
  return next;
}

ValueId DrawnTiles::first(RoleBuilder& b, ValueId own, ValueId instance) const {
  const ValueId one = b.constant(1);
  If branch{.condition = b.less(instance, one), .then = {}, .otherwise = {}};
  branch.then.yields = {own};
  Block* outer = b.enter(&branch.otherwise);
  branch.otherwise.yields = {take(b, b.arithmetic(BinaryFn::sub, instance, one))};
  b.enter(outer);
  return b.emit(std::move(branch), kIndex);
}

}  // namespace tessera
