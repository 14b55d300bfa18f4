#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

std::string too_big(const Program& p, const PassContext& c, std::int64_t total) {
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
      "tile error: shared memory: {} bytes needed, {} has {} ('{}', schedule {})\n   {}\n   help: smaller "
      "tiles or fewer stages",
      total, c.target.arch, c.target.shared_bytes, p.name, to_text(c.schedule), parts);
}

}  // namespace

Program plan_shared_memory(const Program& in, const PassContext& context) {
  Program out = in;
  std::int64_t total = 0;
  for (Inst& inst : out.body.insts) {
    Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    channel->offset = static_cast<int>(std::min<std::int64_t>(total, context.target.shared_bytes));
    total += slot_bytes(out, out.type(inst.result()), *channel) * out.type(inst.result()).slots;
  }
  if (total > context.target.shared_bytes) throw UserError(too_big(in, context, total));
  out.launch.shared_bytes = static_cast<int>(total);
  return out;
}

}  // namespace tessera
