#include "tools/memory_map.h"

#include <fmt/format.h>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tools/glossary.h"
#include "tools/registers.h"

namespace tessera::tools {
namespace {

std::string rows_of(const Type& type, const Channel& channel) {
  if (channel.swizzle > 0) return fmt::format("swizzle of {} bytes", channel.swizzle);
  return fmt::format("rows {} bytes apart", channel.pitch * size_of(type.dtype));
}

std::string line(int offset, std::int64_t bytes, int slots, const std::string& value,
                 const std::string& what) {
  return fmt::format("  {:>7}  {:>7}  {:>2} x {:<7}  {:<5} {}\n", offset, bytes * slots, slots, bytes, value,
                     what);
}

std::string channel_line(const Program& p, const Inst& inst, const Channel& channel, const Glossary& words) {
  const Type& type = p.type(inst.result());
  const std::string value = name_of(p, inst.result());
  const std::string tile = to_text(p, Type{.dtype = type.dtype, .axes = type.axes});
  std::string text =
      line(channel.offset, slot_bytes(p, type, channel), type.slots, value,
           fmt::format("{} {}  {}", words.channel(inst.result()), tile, rows_of(type, channel)));
  if (channel.barriers >= 0)
    text += line(channel.barriers, kBarrierBytes, type.slots, value,
                 fmt::format("mbarriers: full of slot i at {} + 8 i, empty at {} + 8 i", channel.barriers,
                             channel.barriers + kBarrierBytes / 2 * type.slots));
  return text;
}

std::string shared_memory(const Program& p, const Target& target, const Glossary& words) {
  std::string text =
      fmt::format("shared memory: {} of {} bytes\n", p.launch.shared_bytes, target.shared_bytes);
  if (p.launch.shared_bytes > 0) text += "   offset    bytes  slots         value\n";
  for_each_inst(p.body, [&](const Inst& inst) {
    if (const auto* channel = std::get_if<Channel>(&inst.op)) text += channel_line(p, inst, *channel, words);
  });
  return text;
}

/// The values that a block's instructions define; a loop defines parameters, too, which are its results'
/// registers.
std::string registers(const Program& p, const Block& block, const std::string& thread) {
  std::string text = fmt::format(
      "registers of one thread{}, by value (the compiler reuses them)\n   count  value\n", thread);
  for_each_inst(block, [&](const Inst& inst) {
    for (ValueId id : inst.results) {
      const Type& type = p.type(id);
      if (registers_of(type) == 0) continue;
      text += fmt::format("  {:>6}  {:<5} {}{}\n", registers_of(type), name_of(p, id), to_text(p, type),
                          inst.loc.line > 0 ? fmt::format("  {}:{}", inst.loc.file, inst.loc.line) : "");
    }
  });
  return text;
}

}  // namespace

std::string memory_map(const Program& program, const Target& target) {
  const Glossary words(program);
  std::string text = fmt::format("{} on {}: {} warps\n{}", program.name, target.arch, program.launch.warps,
                                 shared_memory(program, target, words));
  if (!has_roles(program)) return text + registers(program, program.body, "");
  for (const Role& role : roles_of(program)) {
    if (!role.elected) text += registers(program, role.body, " of a " + words.role(role));
  }
  return text;
}

}  // namespace tessera::tools
