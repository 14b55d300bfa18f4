#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

/// Bytes of all channels, had none more slots than this.
std::int64_t bytes_with(const Program& p, int slots) {
  std::int64_t total = 0;
  for (const Inst& inst : p.body.insts) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    const Type& type = p.type(inst.result());
    total += slot_bytes(p, type, *channel) * std::min(type.slots, slots);
  }
  return total;
}

std::string help(const Program& p, int blocks) {
  int stages = 1;
  for (const Inst& inst : p.body.insts) {
    if (std::holds_alternative<Channel>(inst.op)) stages = std::max(stages, p.type(inst.result()).slots);
  }
  std::string text = blocks > 1 ? "smaller tiles or fewer blocks" : "smaller tiles";
  const char* separator = ", or fewer stages:";
  for (int fewer = stages - 1; fewer > 0; --fewer, separator = ",")
    text += fmt::format("{} stages={} needs {} bytes", separator, fewer, bytes_with(p, fewer));
  return text;
}

std::string too_big(const Program& p, const PassContext& c, std::int64_t total) {
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
      help(p, blocks));
}

}  // namespace

Program plan_shared_memory(const Program& in, const PassContext& context) {
  constexpr std::int64_t kBarrierBytes = 16;  // of a slot: two mbarriers
  Program out = in;
  std::int64_t total = 0;
  auto place = [&](int& offset, std::int64_t bytes, int alignment) {
    total = (total + alignment - 1) / alignment * alignment;
    offset = static_cast<int>(std::min<std::int64_t>(total, context.target.shared_bytes));
    total += bytes;
  };
  for (Inst& inst : out.body.insts) {
    Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    const Type& type = out.type(inst.result());
    place(channel->offset, slot_bytes(out, type, *channel) * type.slots, slot_alignment(*channel));
  }
  const std::map<ValueId, Protocol> passed = protocols(in);
  for (Inst& inst : out.body.insts) {
    Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel != nullptr && passed.contains(inst.result()))
      place(channel->barriers, kBarrierBytes * out.type(inst.result()).slots, kBarrierBytes);
  }
  if (total > context.target.shared_bytes_for(context.schedule.blocks))
    throw UserError(too_big(in, context, total));
  out.launch.shared_bytes = static_cast<int>(total);
  return out;
}

}  // namespace tessera
