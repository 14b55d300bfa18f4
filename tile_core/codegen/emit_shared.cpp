#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/ir/channel.h"

namespace tessera::codegen {

std::string Emitter::slot_pointer(const Slot& slot) const {
  const Channel& c = channel(slot.channel);
  const Type& type = p_.type(slot.channel);
  std::string offset = fmt::format("{}", c.offset + slot_bytes(p_, type, c) * (slot.offset % type.slots));
  if (slot.ticket != ValueId::none) {
    offset = fmt::format("{} + ({} + {}u) % {}u * {}", c.offset, name(slot.ticket), slot.offset, type.slots,
                         slot_bytes(p_, type, c));
  }
  return fmt::format("reinterpret_cast<{}*>(shared + {})", c_type(type.dtype), offset);
}

std::vector<int> Emitter::channel_strides(ValueId id) const {
  const Channel& c = channel(id);
  std::vector<int> strides(c.order.size(), 1);
  int stride = c.pitch;
  for (std::size_t i = c.order.size() - 1; i-- > 0;) {
    strides[i] = stride;
    stride *= p_.axis(c.order[i]).extent;
  }
  return strides;
}

std::string Emitter::shared_base(ValueId id, const Layout& layout) const {
  std::vector<int> strides = channel_strides(id);
  std::string sum = "0";
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::string thread = thread_coordinate(layout, channel(id).order[i]);
    if (thread != "0") sum += fmt::format(" + ({}) * {}", thread, strides[i]);
  }
  return sum;
}

std::string Emitter::shared_step(ValueId id, const Layout& layout) const {
  std::vector<int> strides = channel_strides(id);
  std::string sum = "0";
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::string step = register_coordinate(layout, channel(id).order[i], "r");
    if (step != "0") sum += fmt::format(" + ({}) * {}", step, strides[i]);
  }
  return sum;
}

/// One thread writes where several hold the same elements.
void Emitter::emit_write_shared(const WriteShared& o) {
  const Layout& layout = p_.type(o.value).layout;
  const Channel& c = channel(o.to.channel);
  DType dtype = p_.type(o.value).dtype;
  int vector = run_length(layout, c.order.back(), 16 / size_of(dtype));
  std::string once = first_replica(layout);
  open(once.empty() ? "" : fmt::format("if ({})", once));
  line("{}* to = {} + {};", c_type(dtype), slot_pointer(o.to), shared_base(o.to.channel, layout));
  open_registers(layout.count(Place::reg), vector);
  line("write_shared<{}>(to + ({}), &{}[r]);", vector, shared_step(o.to.channel, layout), name(o.value));
  close();
  close();
}

void Emitter::emit_read_shared(const Inst& inst, const ReadShared& o) {
  const Layout& layout = p_.type(inst.result()).layout;
  const Channel& c = channel(o.from.channel);
  DType dtype = p_.type(inst.result()).dtype;
  int vector = run_length(layout, c.order.back(), 16 / size_of(dtype));
  std::string result = declare(inst.result());
  open("");
  line("const {}* from = {} + {};", c_type(dtype), slot_pointer(o.from), shared_base(o.from.channel, layout));
  open_registers(layout.count(Place::reg), vector);
  line("read_shared<{}>(&{}[r], from + ({}));", vector, result, shared_step(o.from.channel, layout));
  close();
  close();
}

}  // namespace tessera::codegen
