#include "tools/memory_map.h"

#include <fmt/format.h>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera::tools {
namespace {

std::string channel_line(const Program& p, const Inst& inst, const Channel& channel) {
  const Type& type = p.type(inst.result());
  const std::int64_t bytes = slot_bytes(p, type, channel);
  return fmt::format("  {:>7}  {:>7}  {:>2} x {:<7}  {:<5} {}  rows {} bytes apart\n", channel.offset,
                     bytes * type.slots, type.slots, bytes, name_of(p, inst.result()),
                     to_text(p, Type{.dtype = type.dtype, .axes = type.axes}),
                     channel.pitch * size_of(type.dtype));
}

std::string shared_memory(const Program& p, const Target& target) {
  std::string text =
      fmt::format("shared memory: {} of {} bytes\n", p.launch.shared_bytes, target.shared_bytes);
  if (p.launch.shared_bytes > 0) text += "   offset    bytes  slots         value\n";
  for_each_inst(p.body, [&](const Inst& inst) {
    if (const auto* channel = std::get_if<Channel>(&inst.op)) text += channel_line(p, inst, *channel);
  });
  return text;
}

/// 32-bit registers per thread.
int registers_of(const Type& type) {
  constexpr int kRegisterBytes = 4;
  return (type.layout.count(Place::reg) * size_of(type.dtype) + kRegisterBytes - 1) / kRegisterBytes;
}

/// The values that an instruction defines; a loop defines parameters, too, which are its results' registers.
std::string registers(const Program& p) {
  std::string text = "registers of one thread, by value (the compiler reuses them)\n   count  value\n";
  for_each_inst(p.body, [&](const Inst& inst) {
    for (ValueId id : inst.results) {
      const Type& type = p.type(id);
      if (type.layout.empty() || type.axes.empty()) continue;
      text += fmt::format("  {:>6}  {:<5} {}  {}:{}\n", registers_of(type), name_of(p, id), to_text(p, type),
                          inst.loc.file, inst.loc.line);
    }
  });
  return text;
}

}  // namespace

std::string memory_map(const Program& program, const Target& target) {
  return fmt::format("{} on {}: {} warps\n{}{}", program.name, target.arch, program.launch.warps,
                     shared_memory(program, target), registers(program));
}

}  // namespace tessera::tools
