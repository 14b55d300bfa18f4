#include "tile_core/ir/channel.h"

#include <algorithm>
#include <set>

#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

constexpr int kAccess = 16;      // bytes, of the widest access
constexpr int kPatternRows = 8;  // that a swizzle's pattern repeats after

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

/// The values of a role that its instances may disagree on.
class Varying {
 public:
  explicit Varying(const Role& role) {
    if (role.instance == ValueId::none) return;
    varying_.insert(role.instance);
    do {  // loops carry values backwards
      changed_ = false;
      for_each_inst(role.body, [this](const Inst& inst) { visit(inst); });
    } while (changed_);
  }

  bool operator()(ValueId id) const { return varying_.contains(id); }

 private:
  void mark(ValueId id, bool varies) {
    if (varies && id != ValueId::none && varying_.insert(id).second) changed_ = true;
  }

  void visit(const Inst& inst) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) return visit(inst, *loop);
    bool varies = false;
    for_each_operand(inst.op, [&](ValueId id) { varies = varies || (*this)(id); });
    for_each_block(inst.op, [&](const Block& block) {
      for (ValueId id : block.yields) varies = varies || (*this)(id);
    });
    for (ValueId id : inst.results) mark(id, varies);
  }

  void visit(const Inst& inst, const Loop& loop) {
    bool trips = (*this)(loop.begin) || (*this)(loop.end) || (*this)(loop.step);
    mark(loop.start, (*this)(loop.begin) || (*this)(loop.step));
    mark(loop.ticket, (*this)(loop.first_ticket));
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      bool varies = (*this)(loop.carried[i]) || (*this)(loop.body.yields[i]);
      mark(loop.parameters[i], varies);
      mark(inst.results[i], varies || trips);
    }
  }

  std::set<ValueId> varying_;
  bool changed_ = false;
};

/// Whether a role's threads read a channel or one that goes with it.
bool threads_read(const Role& role, const Roots& roots, ValueId channel) {
  bool found = false;
  for_each_inst(role.body, [&](const Inst& inst) {
    auto reads = [&](const Slot& slot) { found = found || roots.at(slot.channel) == channel; };
    if (const auto* o = std::get_if<ReadShared>(&inst.op)) reads(o->from);
    if (const auto* o = std::get_if<DotShared>(&inst.op)) reads(o->a), reads(o->b);
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
  std::set<ValueId> bulk;  // channels that bulk copies fill
  auto add = [&](const Role& role) {
    Varying varying(role);
    std::map<ValueId, Protocol> own;
    for_each_inst(role.body, [&](const Inst& inst) {
      const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
      if (copy != nullptr && copy->kind == CopyKind::bulk) bulk.insert(copy->to.channel);
      const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
      if (pass == nullptr) return;
      ValueId channel = roots.at(pass->slot.channel);
      int instances = varying(pass->slot.ticket) ? 1 : role.instances;
      Protocol& protocol = own[channel];
      if (pass->step == SlotStep::commit) protocol.commits = instances * commit_arrivals(role);
      if (pass->step == SlotStep::release)
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
  return result;
}

}  // namespace tessera
