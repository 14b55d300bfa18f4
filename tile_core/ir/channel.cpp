#include "tile_core/ir/channel.h"

#include <algorithm>
#include <set>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/varying.h"

namespace tessera {
namespace {

constexpr int kAccess = 16;  // bytes, of the widest access

/// The channel whose barriers a channel shares, by channel; those without another stand for themselves.
using Roots = std::map<ValueId, ValueId>;

Roots roots_of(const Program& program) {
  Roots roots;
  for (const Inst& inst : program.body.insts) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    roots[inst.result()] = channel->with == ValueId::none ? inst.result() : roots.at(channel->with);
  }
  return roots;
}

/// Whether a role's threads read a channel or one that goes with it.
bool threads_read(const Role& role, const Roots& roots, ValueId channel) {
  bool found = false;
  for_each_inst(role.body, [&](const Inst& inst) {
    auto reads = [&](const Slot& slot) { found = found || roots.at(slot.channel) == channel; };
    if (const auto* o = std::get_if<ReadShared>(&inst.op)) reads(o->from);
    if (const auto* o = std::get_if<DotShared>(&inst.op)) {
      if (o->a.value == ValueId::none) reads(o->a.slot);
      reads(o->b);
    }
  });
  return found;
}

/// Whether dots that the whole warpgroup issues follow every wait for a channel, whatever branches and loops
/// do: then all its warps have passed the wait before any of them can release.
bool dots_follow_waits(const Block& block, const Roots& roots, ValueId channel) {
  bool waits = false, reads = false, inside = true;
  auto note = [&](const Slot& slot) { reads = reads || roots.at(slot.channel) == channel; };
  for (const Inst& inst : block.insts) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    waits =
        waits || (pass != nullptr && pass->step == SlotStep::wait && roots.at(pass->slot.channel) == channel);
    if (const IssueDot* dot = std::get_if<IssueDot>(&inst.op)) {
      note(dot->b);
      if (dot->a.value == ValueId::none) note(dot->a.slot);
    }
    for_each_block(inst.op, [&](const Block& b) { inside = inside && dots_follow_waits(b, roots, channel); });
  }
  return inside && (!waits || reads);
}

/// The channels whose slots a role skips.
std::set<ValueId> skipped_in(const Role& role, const Roots& roots) {
  std::set<ValueId> skipped;
  for_each_inst(role.body, [&](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    if (pass != nullptr && pass->step == SlotStep::skip) skipped.insert(roots.at(pass->slot.channel));
  });
  return skipped;
}

}  // namespace

int slot_alignment(const Channel& channel) {
  return channel.swizzle > 0 ? kPatternRows * channel.swizzle : kAccess;
}

std::int64_t slot_bytes(const Program& program, const Type& type, const Channel& channel) {
  std::int64_t count = elements(program, type);
  if (channel.swizzle == 0) {
    if (!channel.order.empty()) count /= program.axis(channel.order.back()).extent;
    count *= channel.pitch;
  }
  std::int64_t alignment = slot_alignment(channel);
  return (count * size_of(type.dtype) + alignment - 1) / alignment * alignment;
}

int commit_arrivals(const Role& role) {
  return role.elected ? 1 : role.warps;
}

int release_arrivals(const Program& program, const Role& role, ValueId channel) {
  const Roots roots = roots_of(program);
  bool dots = !threads_read(role, roots, channel) && dots_follow_waits(role.body, roots, channel);
  return role.elected || dots ? 1 : role.warps;
}

std::map<ValueId, Protocol> protocols(const Program& program) {
  Roots roots = roots_of(program);
  std::map<ValueId, Protocol> result;
  std::set<ValueId> bulk;       // channels that bulk copies fill
  std::set<ValueId> multicast;  // those whose slots they fill in every block of the cluster, by root
  auto add = [&](const Role& role) {
    const Varying varying = varying_in(role);
    const std::set<ValueId> skipped = skipped_in(role, roots);
    std::map<ValueId, Protocol> own;
    for_each_inst(role.body, [&](const Inst& inst) {
      const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
      if (copy != nullptr && copy->kind == CopyKind::bulk) bulk.insert(copy->to.channel);
      if (copy != nullptr && copy->multicast) multicast.insert(roots.at(copy->to.channel));
      const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
      if (pass == nullptr) return;
      ValueId channel = roots.at(pass->slot.channel);
      const bool one = varying(pass->slot.ticket) && !skipped.contains(channel);
      const int instances = one ? 1 : role.instances;
      Protocol& protocol = own[channel];
      if (pass->step == SlotStep::commit) protocol.commits = instances * commit_arrivals(role);
      if (pass->step == SlotStep::release || pass->step == SlotStep::skip)
        protocol.releases = instances * release_arrivals(program, role, channel);
    });
    for (const auto& [channel, protocol] : own) {
      result[channel].commits += protocol.commits;
      result[channel].releases += protocol.releases;
    }
  };
  for (const Inst& inst : program.body.insts) {
    const Roles* roles = std::get_if<Roles>(&inst.op);
    if (roles != nullptr) std::for_each(roles->roles.begin(), roles->roles.end(), add);
  }
  for (ValueId channel : bulk) {
    auto protocol = result.find(roots.at(channel));
    const Type& type = program.type(channel);
    if (protocol != result.end())
      protocol->second.bulk_bytes += elements(program, type) * size_of(type.dtype);
  }
  for (ValueId channel : multicast) {
    Protocol& protocol = result[channel];
    protocol.blocks = program.launch.cluster.blocks;
    protocol.releases *= protocol.blocks;
  }
  return result;
}

}  // namespace tessera
