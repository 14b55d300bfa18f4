#include "tile_core/ir/type_rules.h"

namespace tessera {

/// The type of the tile that a slot, or its part, holds.
Type TypeRules::tile_of(const Slot& slot) const {
  const Type& channel = type(slot.channel);
  if (!channel.is_channel()) fail(name_of(p_, slot.channel) + " is not a channel");
  Type tile{.dtype = channel.dtype, .axes = channel.axes};
  const Part& part = slot.part;
  if (part.of == AxisId::none) return tile;
  axis_is_part(part.of, part.to, tile);
  scalar_index(part.index, "the index of a part");
  std::replace(tile.axes.begin(), tile.axes.end(), part.of, part.to);
  return tile;
}

void TypeRules::slot_holds(const Slot& slot, DType dtype, const Axes& axes) const {
  Type tile = tile_of(slot);
  if (tile.dtype == dtype && same_axes(tile.axes, axes)) return;
  fail(fmt::format("the slot holds {}, but the tile is {}", to_text(p_, tile), text(dtype, axes)));
}

/// Of the tensor cores, which take f32 as nothing but TF32.
void TypeRules::takes_matrices(const Type& a, const Type& b, Precision precision, const char* dot) const {
  const bool tf32 = precision != Precision::ieee;
  const bool fits = a.dtype == b.dtype && (tf32 ? a.dtype == f32 : a.dtype == f16 || a.dtype == bf16);
  if (fits && a.axes.size() == 2 && b.axes.size() == 2 && result().axes.size() == 2) return;
  if (tf32) {
    fail(fmt::format("{} in {} takes matrices, but got {} and {}", dot, name_of(precision), to_text(p_, a),
                     to_text(p_, b)));
  }
  fail(fmt::format("{} takes matrices of one dtype, f16 or bf16, but got {} and {}", dot, to_text(p_, a),
                   to_text(p_, b)));
}

void TypeRules::dot_shared(const DotShared& o) const {
  const bool registers = o.a.value != ValueId::none;
  Type a = registers ? type(o.a.value) : tile_of(o.a.slot);
  Type b = tile_of(o.b);
  dot_of(a, b, o.axis, o.precision);
  accumulates(o.accumulator);
  if (o.mma) return takes_matrices(a, b, o.precision, "a dot by mma");
  if (registers) fail("a dot by FMA takes slots, but got " + text(o.a.value));
}

void TypeRules::issue_dot(const IssueDot& o) const {
  const bool registers = o.a.value != ValueId::none;
  Type a = registers ? type(o.a.value) : tile_of(o.a.slot);
  Type b = tile_of(o.b);
  dot_of(a, b, o.axis, Precision::ieee);
  takes_matrices(a, b, Precision::ieee, "an issued dot");
  if (!result().pending) fail("the result of an issued dot is pending, but got " + text(inst_.result()));
  if (o.accumulator != ValueId::none) accumulates(o.accumulator);
  if (o.accumulate != ValueId::none) {
    scalar_condition(o.accumulate);
    if (o.accumulator == ValueId::none) fail("a dot that may accumulate has no accumulator");
  }
}

void TypeRules::wait_dots(const WaitDots& o) const {
  for (std::size_t i = 0; i < o.values.size(); ++i) {
    Type tile = type(o.values[i]);
    if (!tile.pending) fail("a wait for dots takes pending values, but got " + text(o.values[i]));
    tile.pending = false;
    if (type(inst_.results[i]) == tile) continue;
    fail(fmt::format("a wait turns {} into {}", text(o.values[i]), text(inst_.results[i])));
  }
}

}  // namespace tessera
