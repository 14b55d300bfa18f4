#include <algorithm>

#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/operands.h"

namespace tessera::codegen {

ValueId Emitter::root(ValueId id) const {
  ValueId with = channel(id).with;
  return with == ValueId::none ? id : root(with);
}

/// How many times the slot's ticket has come round, before this use.
std::string Emitter::uses(const Slot& slot) const {
  int slots = p_.type(slot.channel).slots;
  if (slot.ticket == ValueId::none) return fmt::format("{}u", slot.offset / slots);
  return fmt::format("{} / {}u", ticket(slot), slots);
}

std::string Emitter::mbarrier(const Slot& slot, bool full, const char* base) const {
  ValueId id = root(slot.channel);
  int slots = p_.type(id).slots;
  int at = channel(id).barriers + (full ? 0 : 8 * slots);
  if (slots == 1) return fmt::format("{} + {}", base, at);
  if (slot.ticket == ValueId::none) return fmt::format("{} + {}", base, at + slot.offset % slots * 8);
  return fmt::format("{} + {} + {} % {}u * 8", base, at, ticket(slot), slots);
}

/// An instance arrives once, or by each of its warps, as channel.h counts: after all their lanes.
void Emitter::emit_pass(const PassSlot& o) {
  if (o.step == SlotStep::release) return emit_release(o.slot);
  if (o.step == SlotStep::skip) return emit_skip(o.slot);
  std::string at = mbarrier(o.slot, o.step != SlotStep::acquire);
  if (o.step == SlotStep::wait) return line("mbarrier_wait({}, {} % 2u);", at, uses(o.slot));
  if (o.step == SlotStep::acquire) return line("mbarrier_wait({}, {} % 2u ^ 1u);", at, uses(o.slot));
  if (role_->elected) {
    std::int64_t bytes = protocols_.at(o.slot.channel).bulk_bytes;
    return bytes > 0 ? line("mbarrier_arrive_expect({}, {});", at, bytes)
                     : line("mbarrier_arrive({}, true);", at);
  }
  line("warp_barrier();");
  line("mbarrier_arrive({}, lane == 0);", at);
}

/// One arrives for the instance only after all of it have seen the phase, as they have where dots follow.
void Emitter::emit_skip(const Slot& slot) {
  emit_pass({SlotStep::wait, slot});
  if (!role_->elected && release_arrivals(p_, *role_, slot.channel) == 1) emit_barrier();
  emit_release(slot);
}

/// In every block whose copies wait for the slot, of which a lane each has the address.
void Emitter::emit_release(const Slot& slot) {
  const int blocks = protocols_.at(slot.channel).blocks;
  const bool once = release_arrivals(p_, *role_, slot.channel) == 1;
  const std::string at = mbarrier(slot, false);
  if (role_->elected) {
    if (blocks == 1) return line("mbarrier_arrive({}, true);", at);
    for (int rank = 0; rank < blocks; ++rank)
      line("mbarrier_arrive_there(address_in_block({}, {}), true);", at, rank);
    return;
  }
  if (!once) line("warp_barrier();");
  if (blocks == 1) return line("mbarrier_arrive({}, {});", at, once ? "leader" : "lane == 0");
  line("mbarrier_arrive_there({}, lane < {}{});", mbarrier(slot, false, "base_of_lane"), blocks,
       once ? " && warp == 0" : "");
}

int Emitter::atoms(const Slot& slot) const {
  const Channel& c = channel(slot.channel);
  if (c.swizzle == 0) fail("the copy engine's boxes are atoms, and a slot that is not swizzled has none");
  return p_.axis(seen_as(slot, c.order.back())).extent * size_of(p_.type(slot.channel).dtype) / c.swizzle;
}

/// The number of the map whose boxes are atoms of the slot.
int Emitter::map_of(TensorId tensor, const Slot& slot, const std::vector<Subscript>& subscripts) {
  const Channel& c = channel(slot.channel);
  int width = c.swizzle / size_of(p_.type(slot.channel).dtype);
  TensorMap map{.tensor = static_cast<int>(tensor), .contiguous = -1, .swizzle = c.swizzle};
  for (const Subscript& s : subscripts) {
    bool fastest = s.axis != AxisId::none && s.axis == seen_as(slot, c.order.back());
    if (fastest) map.contiguous = static_cast<int>(map.box.size());
    int extent = s.axis == AxisId::none ? 1 : p_.axis(s.axis).extent;
    map.box.push_back(fastest ? width : extent);
  }
  if (map.contiguous != facts_.tensors.at(index_of(tensor)).contiguous_dim)
    fail(fmt::format("rows of a slot are along dim {} of '{}', which is not contiguous", map.contiguous,
                     p_.tensor(tensor).name));
  auto known = std::find(maps_.begin(), maps_.end(), map);
  if (known == maps_.end()) known = maps_.insert(known, map);
  return static_cast<int>(known - maps_.begin());
}

/// Where an atom's box begins, in the order of the map's dims.
std::string Emitter::coordinates(const Slot& slot, const std::vector<Subscript>& subscripts, int atom) const {
  const Channel& c = channel(slot.channel);
  std::string first, others;
  for (auto s = subscripts.rbegin(); s != subscripts.rend(); ++s) {
    std::string start = fmt::format("static_cast<int>({})", name(s->value));
    bool fastest = s->axis != AxisId::none && s->axis == seen_as(slot, c.order.back());
    if (!fastest) others += ", " + start;
    if (fastest)
      first = atom == 0
                  ? start
                  : fmt::format("{} + {}", start, atom * c.swizzle / size_of(p_.type(slot.channel).dtype));
  }
  return first + others;
}

void Emitter::emit_copy_bulk(const CopyIn& o) {
  if (role_ == nullptr || !role_->elected) fail("a bulk copy in a role of more than one thread");
  int map = map_of(o.load.tensor, o.to, o.load.subscripts);
  open("");
  line("const unsigned to = base + {}, full = {};", slot_offset(o.to), mbarrier(o.to, true));
  const std::string ranks = fmt::format(", {:#x}", (1 << p_.launch.cluster.blocks) - 1);
  for (int atom = 0; atom < atoms(o.to); ++atom) {
    line("copy_{}(to + {}, &p.map_{}, full{}, {});", o.multicast ? "multicast" : "bulk",
         atom * atom_bytes(o.to.channel), map, o.multicast ? ranks : "",
         coordinates(o.to, o.load.subscripts, atom));
  }
  close();
}

void Emitter::emit_copy_out(const CopyOut& o) {
  int map = map_of(o.tensor, o.from, o.subscripts);
  open(role_->elected ? "" : "if (leader)");
  line("const unsigned from = base + {};", slot_offset(o.from));
  for (int atom = 0; atom < atoms(o.from); ++atom) {
    line("{}_out(&p.map_{}, from + {}, {});", o.accumulate ? "accumulate" : "copy", map,
         atom * atom_bytes(o.from.channel), coordinates(o.from, o.subscripts, atom));
  }
  close();
}

void Emitter::emit_by_leader(const std::string& statement) {
  append(role_->elected ? statement : "if (leader) " + statement);
}

}  // namespace tessera::codegen
