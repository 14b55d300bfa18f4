#include <algorithm>
#include <map>
#include <set>

#include "tile_core/base/error.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

/// Channels that copies in a loop fill: those with a slot for each stage.
void add_rings(const Block& block, bool in_loop, std::set<ValueId>& rings) {
  for (const Inst& inst : block.insts) {
    if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op); copy != nullptr && in_loop)
      rings.insert(copy->to.channel);
    const Loop* loop = std::get_if<Loop>(&inst.op);
    const bool steps = loop != nullptr && loop->axis != AxisId::none;
    for_each_block(inst.op, [&](const Block& inner) { add_rings(inner, in_loop || steps, rings); });
  }
}

class Plan {
 public:
  Plan(const Program& program, const PassContext& context)
      : p_(program), context_(context), passed_(protocols(program)) {
    add_rings(program.body, false, rings_);
    for (ValueId ring : rings_) stages_ = std::max(stages_, program.type(ring).slots);
  }

  int stages() const { return stages_; }

  /// Places the channels, swizzled ones first, then the barriers of those that roles pass; gives the bytes of
  /// all. The rings have at most `stages` slots.
  std::int64_t place(Program& p, int stages) const {
    std::int64_t total = 0;
    auto put = [&](int& offset, std::int64_t bytes, int alignment) {
      total = (total + alignment - 1) / alignment * alignment;
      offset = static_cast<int>(std::min<std::int64_t>(total, context_.target.shared_bytes));
      total += bytes;
    };
    auto slots = [&](ValueId id) {
      return rings_.contains(id) ? std::min(stages, p_.type(id).slots) : p_.type(id).slots;
    };
    for (bool swizzled : {true, false}) {  // those begin at multiples of 1024 bytes at the most, these of 16
      for (Inst& inst : p.body.insts) {
        Channel* channel = std::get_if<Channel>(&inst.op);
        if (channel == nullptr || (channel->swizzle > 0) != swizzled) continue;
        const ValueId id = inst.result();
        put(channel->offset, slot_bytes(p_, p_.type(id), *channel) * slots(id), slot_alignment(*channel));
      }
    }
    for (Inst& inst : p.body.insts) {
      Channel* channel = std::get_if<Channel>(&inst.op);
      if (channel != nullptr && passed_.contains(inst.result()))
        put(channel->barriers, std::int64_t{kBarrierBytes} * slots(inst.result()), kBarrierBytes);
    }
    return total;
  }

 private:
  const Program& p_;
  const PassContext& context_;
  std::map<ValueId, Protocol> passed_;
  std::set<ValueId> rings_;
  int stages_ = 1;
};

/// Fewer stages, where they are enough.
std::string help(const Program& p, const PassContext& c, const Plan& plan) {
  const int blocks = c.schedule.blocks;
  std::string text = blocks > 1 ? "smaller tiles or fewer blocks" : "smaller tiles";
  const char* separator = ", or fewer stages:";
  for (int fewer = plan.stages() - 1; fewer > 0; --fewer) {
    Program scratch = p;
    const std::int64_t bytes = plan.place(scratch, fewer);
    if (bytes > c.target.shared_bytes_for(blocks)) continue;
    text += fmt::format("{} stages={} needs {} bytes", separator, fewer, bytes);
    separator = ",";
  }
  return text;
}

std::string too_big(const Program& p, const PassContext& c, const Plan& plan, std::int64_t total) {
  int blocks = c.schedule.blocks;
  std::string each = blocks > 1 ? fmt::format(" for each of {} blocks", blocks) : "";
  std::string parts;
  for (const Inst& inst : p.body.insts) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    const Type& type = p.type(inst.result());
    std::int64_t slot = slot_bytes(p, type, *channel);
    parts +=
        fmt::format("{}{} x {} bytes for {}", parts.empty() ? "" : " · ", type.slots, slot, to_text(p, type));
  }
  return fmt::format(
      "tile error: shared memory: {} bytes needed, {} has {}{} ('{}', schedule {})\n   {}\n   help: {}",
      total, c.target.arch, c.target.shared_bytes_for(blocks), each, p.name, to_text(c.schedule), parts,
      help(p, c, plan));
}

}  // namespace

Program plan_shared_memory(const Program& in, const PassContext& context) {
  Program out = in;
  const Plan plan(in, context);
  const std::int64_t total = plan.place(out, plan.stages());
  if (total > context.target.shared_bytes_for(context.schedule.blocks))
    throw UserError(too_big(in, context, plan, total));
  out.launch.shared_bytes = static_cast<int>(total);
  return out;
}

}  // namespace tessera
