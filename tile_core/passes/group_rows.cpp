#include "tile_core/passes/group_rows.h"

#include <algorithm>

#include "tile_core/ir/operands.h"
#include "tile_core/passes/dot_path.h"

namespace tessera {

GroupRows::GroupRows(RoleBuilder& builder, AxisId rows, int groups, ValueId instance)
    : b_(builder), uses_(builder.in()) {
  if (groups == 1) return;
  AxisInfo info = b_.in().axis(rows);
  info.kind = AxisKind::part;
  info.name += "_group";
  info.extent /= groups;
  part_ = {.of = rows, .to = b_.out().new_axis(std::move(info)), .index = instance};
}

Op GroupRows::of(Op op) {
  auto subscripts = [&](std::vector<Subscript>& list) {
    for (Subscript& s : list) {
      if (are(s.axis)) s = {part_.to, start_of(s.value)};
    }
  };
  if (Index* index = std::get_if<Index>(&op); index != nullptr && are(index->axis))
    *index = {part_.to, start_of(index->start)};
  if (Load* load = std::get_if<Load>(&op)) subscripts(load->subscripts);
  if (Store* store = std::get_if<Store>(&op)) subscripts(store->subscripts);
  return op;
}

Type GroupRows::of(Type type) const {
  if (part_.of == AxisId::none) return type;
  std::replace(type.axes.begin(), type.axes.end(), part_.of, part_.to);
  std::vector<Repeat> repeats;
  int warps = 1;
  const Layout renamed = type.layout.rename(part_.of, part_.to);
  for (Repeat repeat : renamed.repeats()) {
    if (repeat.place == Place::warp) {
      repeat.count = std::min(repeat.count, kGroupWarps / warps);
      warps *= repeat.count;
    }
    repeats.push_back(repeat);
  }
  type.layout = Layout(std::move(repeats));
  return type;
}

Slot GroupRows::of(Slot slot, const Type& tile) const {
  if (split(tile)) slot.part = part_;
  return slot;
}

bool GroupRows::stop_sooner(const Loop& loop) const {
  if (part_.of == AxisId::none || !bound(loop.end)) return false;
  for (ValueId id : loop.parameters) {  // what all groups hold has to be the same in all
    if (!b_.in().type(id).has(part_.of)) return false;
  }
  if (holds<Store>(loop.body)) return false;
  const int before = b_.in().axis(part_.of).extent - b_.out().axis(part_.to).extent;
  return before >= b_.in().axis(loop.axis).extent;
}

ValueId GroupRows::end_of(const Loop& loop) {
  ValueId one = b_.constant(1);
  ValueId least = b_.arithmetic(BinaryFn::add, b_.map(loop.begin), one);
  ValueId own = b_.arithmetic(BinaryFn::max, bound_of(loop.end), least);
  return b_.arithmetic(BinaryFn::min, own, b_.map(loop.end));
}

/// Whether the end of the rows bounds what is made from a scalar.
bool GroupRows::bound(ValueId old) const {
  const Inst& definer = uses_.definer(old);
  if (const End* end = std::get_if<End>(&definer.op)) return are(end->axis);
  if (!is_pure(definer.op)) return false;
  bool found = false;
  for_each_operand(definer.op, [&](ValueId id) { found = found || bound(id); });
  return found;
}

ValueId GroupRows::bound_of(ValueId old) {
  if (!bound(old)) return b_.map(old);
  const Inst& definer = uses_.definer(old);
  if (const End* end = std::get_if<End>(&definer.op))
    return b_.emit(End{part_.to, start_of(b_.map(end->start))}, kIndex, definer.loc);
  Op op = definer.op;
  for_each_operand(op, [this](ValueId& id) { id = bound_of(id); });
  return b_.emit(std::move(op), b_.in().type(old), definer.loc);
}

ValueId GroupRows::start_of(ValueId start) {
  ValueId rows = b_.constant(b_.out().axis(part_.to).extent);
  return b_.arithmetic(BinaryFn::add, start, b_.arithmetic(BinaryFn::mul, part_.index, rows));
}

}  // namespace tessera
