#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"

namespace tessera::codegen {

std::string Emitter::ticket(const Slot& slot) const {
  std::string count = name(slot.ticket);
  if (!tickets_.contains(slot.ticket)) count = fmt::format("static_cast<unsigned>({})", count);
  return fmt::format("({} + {}u)", count, slot.offset);
}

/// Of a part along the fastest axis of a swizzled channel, whole atoms; else rows.
std::string Emitter::part_offset(const Slot& slot) const {
  const Channel& c = channel(slot.channel);
  int bytes = p_.axis(slot.part.to).extent * size_of(p_.type(slot.channel).dtype);
  if (c.swizzle > 0 && slot.part.of == c.order.back()) {
    if (bytes % c.swizzle != 0) fail(fmt::format("a part of {} bytes in atoms of {}", bytes, c.swizzle));
    bytes = bytes / c.swizzle * atom_bytes(slot.channel);
  } else {
    std::vector<int> strides = channel_strides(slot.channel);
    for (std::size_t i = 0; i < c.order.size(); ++i) {
      if (c.order[i] == slot.part.of) bytes *= strides[i];
    }
  }
  return fmt::format(" + static_cast<unsigned>({}) * {}", name(slot.part.index), bytes);
}

std::string Emitter::slot_offset(const Slot& slot) const {
  const Channel& c = channel(slot.channel);
  const Type& type = p_.type(slot.channel);
  std::int64_t bytes = slot_bytes(p_, type, c);
  std::string offset = fmt::format("{}", c.offset + bytes * (slot.offset % type.slots));
  if (slot.ticket != ValueId::none && type.slots > 1)
    offset = fmt::format("{} + {} % {}u * {}", c.offset, ticket(slot), type.slots, bytes);
  return slot.part.of == AxisId::none ? offset : offset + part_offset(slot);
}

std::string Emitter::slot_pointer(const Slot& slot) const {
  return fmt::format("reinterpret_cast<{}*>(shared + {})", c_type(p_.type(slot.channel).dtype),
                     slot_offset(slot));
}

std::vector<int> Emitter::channel_strides(ValueId id) const {
  const Channel& c = channel(id);
  std::vector<int> strides(c.order.size(), 1);
  int stride = c.swizzle > 0 ? c.swizzle / size_of(p_.type(id).dtype) : c.pitch;
  for (std::size_t i = c.order.size() - 1; i-- > 0;) {
    strides[i] = stride;
    stride *= p_.axis(c.order[i]).extent;
  }
  return strides;
}

int Emitter::atom_bytes(ValueId id) const {
  const Channel& c = channel(id);
  std::int64_t rows = elements(p_, p_.type(id)) / p_.axis(c.order.back()).extent;
  return static_cast<int>(rows) * c.swizzle;
}

/// In elements, the sum over the slower axes, and the fastest unless `rows` is set, of what the thread adds,
/// or register r.
std::string Emitter::coordinate_sum(const Slot& slot, const Layout& layout, bool thread, bool rows) const {
  std::vector<int> strides = channel_strides(slot.channel);
  std::string sum = "0";
  for (std::size_t i = 0; i + (rows ? 1 : 0) < strides.size(); ++i) {
    AxisId axis = seen_as(slot, channel(slot.channel).order[i]);
    std::string term = thread ? thread_coordinate(layout, axis) : register_coordinate(layout, axis, "r");
    if (term != "0") sum += fmt::format(" + ({}) * {}", term, strides[i]);
  }
  return sum;
}

/// Of a swizzled slot the thread's and the registers' parts do not add up: all is in the step.
std::string Emitter::shared_base(const Slot& slot, const Layout& layout) const {
  return channel(slot.channel).swizzle > 0 ? "0" : coordinate_sum(slot, layout, true, false);
}

std::string Emitter::shared_step(const Slot& slot, const Layout& layout) const {
  if (channel(slot.channel).swizzle == 0) return coordinate_sum(slot, layout, false, false);
  AxisId fastest = seen_as(slot, channel(slot.channel).order.back());
  return swizzled_place(
      slot.channel,
      coordinate_sum(slot, layout, true, true) + " + " + coordinate_sum(slot, layout, false, true),
      fmt::format("({} + {})", thread_coordinate(layout, fastest),
                  register_coordinate(layout, fastest, "r")));
}

/// In elements from the slot's start: `row` counts elements of an atom, `column` those of the fastest axis.
std::string Emitter::swizzled_place(ValueId id, const std::string& row, const std::string& column) const {
  int size = size_of(p_.type(id).dtype);
  int width = channel(id).swizzle / size;
  return fmt::format("swizzled<{}>(({} + {} % {}) * {}) / {} + {} / {} * {}", width * size, row, column,
                     width, size, size, column, width, atom_bytes(id) / size);
}

/// One thread writes where several hold the same elements.
void Emitter::emit_write_shared(const WriteShared& o) {
  if (!is_tile(o.value)) return write_scalar(o);
  if (moves_as_matrices(o.to, p_.type(o.value))) return emit_matrices(o.to, o.value, true);
  const Layout& layout = p_.type(o.value).layout;
  const Channel& c = channel(o.to.channel);
  DType dtype = p_.type(o.value).dtype;
  int vector = run_length(layout, seen_as(o.to, c.order.back()), 16 / size_of(dtype));
  std::string once = first_replica(layout);
  open(once.empty() ? "" : fmt::format("if ({})", once));
  line("{}* to = {} + {};", c_type(dtype), slot_pointer(o.to), shared_base(o.to, layout));
  open_registers(layout.count(Place::reg), vector);
  line("write_shared<{}>(to + ({}), &{}[r]);", vector, shared_step(o.to, layout), name(o.value));
  close();
  close();
}

void Emitter::write_scalar(const WriteShared& o) {
  open("");
  line("const {} value = {};", c_type(p_.type(o.value).dtype), name(o.value));
  line("write_shared<1>({}, &value);", slot_pointer(o.to));
  close();
}

/// A number that all threads read alike is one of their warp, so that what depends on it branches for a warp.
void Emitter::read_scalar(ValueId result, const Slot& from) {
  const DType dtype = p_.type(result).dtype;
  const std::string scalar = declare(result);
  line("{} {};", c_type(dtype), scalar);
  line("read_shared<1>(&{}, {});", scalar, slot_pointer(from));
  if (dtype == i64 && role_ != nullptr && !role_->elected) line("{0} = uniform({0});", scalar);
}

void Emitter::emit_read_shared(const Inst& inst, const ReadShared& o) {
  if (!is_tile(inst.result())) return read_scalar(inst.result(), o.from);
  const Layout& layout = p_.type(inst.result()).layout;
  const Channel& c = channel(o.from.channel);
  DType dtype = p_.type(inst.result()).dtype;
  int vector = run_length(layout, seen_as(o.from, c.order.back()), 16 / size_of(dtype));
  std::string result = declare(inst.result());
  if (moves_as_matrices(o.from, p_.type(inst.result()))) return emit_matrices(o.from, inst.result(), false);
  open("");
  line("const {}* from = {} + {};", c_type(dtype), slot_pointer(o.from), shared_base(o.from, layout));
  open_registers(layout.count(Place::reg), vector);
  line("read_shared<{}>(&{}[r], from + ({}));", vector, result, shared_step(o.from, layout));
  close();
  close();
}

}  // namespace tessera::codegen
