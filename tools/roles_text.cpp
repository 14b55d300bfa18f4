#include "tools/roles_text.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/warp_dots.h"
#include "tools/glossary.h"
#include "tools/registers.h"
#include "tools/table.h"

namespace tessera::tools {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The dtype and axes of a type, without where it is held.
std::string tile_text(const Program& p, const Type& type) {
  return to_text(p, Type{.dtype = type.dtype, .axes = type.axes, .pending = type.pending});
}

/// "producer: 1 instance of 4 warps, 40 registers a thread (setmaxnreg), one thread runs it"
std::string role_line(const Role& role, const std::string& name) {
  const std::string registers = role.registers > 0
                                    ? fmt::format("{} registers a thread (setmaxnreg)", role.registers)
                                    : "registers as launched";
  return fmt::format("{}: {} instance{} of {} warps, {}{}\n", name, role.instances,
                     role.instances == 1 ? "" : "s", role.warps, registers,
                     role.elected ? ", one thread runs it" : "");
}

/// The tiles that a role defines, by type, in the order of their first definition.
std::string held(const Program& p, const Role& role) {
  Rows rows = {{"registers", "values", "of type"}};
  std::map<std::string, std::size_t> row_of;
  std::vector<int> values = {0};
  for_each_inst(role.body, [&](const Inst& inst) {
    for (ValueId id : inst.results) {
      const Type& type = p.type(id);
      const int registers = registers_of(type);
      if (registers == 0) continue;
      const auto [row, fresh] = row_of.try_emplace(tile_text(p, type), rows.size());
      if (fresh) {
        rows.push_back({std::to_string(registers), "", row->first});
        values.push_back(0);
      }
      ++values[row->second];
    }
  });
  if (rows.size() == 1) return "  holds no tile in registers\n";
  for (std::size_t i = 1; i < rows.size(); ++i) rows[i][1] = std::to_string(values[i]);
  return table(rows);
}

const char* words_of(CopyKind kind) {
  if (kind == CopyKind::bulk) return "bulk copies";
  return kind == CopyKind::async ? "asynchronous copies" : "copies through registers";
}

/// How operations fill or read a channel, by channel, in the words of one role; each once.
class Accesses {
 public:
  Accesses(const Program& p, const Glossary& words) : p_(p) {
    for (const Role& role : roles_of(p))
      for_each_inst(role.body, [&](const Inst& inst) { visit(words.role(role), inst); });
  }
  std::string fills(ValueId channel) const { return joined(fills_, channel); }
  std::string reads(ValueId channel) const { return joined(reads_, channel); }

 private:
  using Texts = std::map<ValueId, std::vector<std::string>>;

  static void add(Texts& texts, ValueId channel, const std::string& text) {
    std::vector<std::string>& all = texts[channel];
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  static std::string joined(const Texts& texts, ValueId channel) {
    const auto found = texts.find(channel);
    return found == texts.end() ? "nobody" : fmt::format("{}", fmt::join(found->second, ", "));
  }

  void visit(const std::string& role, const Inst& inst) {
    match(
        inst.op,
        [&](const CopyIn& o) {
          const std::string parts = o.multicast ? fmt::format(", 1 / {} of each to all blocks of the cluster",
                                                              p_.launch.cluster.blocks)
                                                : "";
          add(fills_, o.to.channel,
              fmt::format("{}: {} of {}{}", role, words_of(o.kind), p_.tensor(o.load.tensor).name, parts));
        },
        [&](const WriteShared& o) { add(fills_, o.to.channel, role + ": its registers"); },
        [&](const ReadShared& o) { add(reads_, o.from.channel, role + ": to registers"); },
        [&](const DotShared& o) {
          if (o.a.value == ValueId::none) add(reads_, o.a.slot.channel, role + ": dots");
          add(reads_, o.b.channel, role + ": dots");
        },
        [&](const IssueDot& o) {
          if (o.a.value == ValueId::none) add(reads_, o.a.slot.channel, role + ": wgmma");
          add(reads_, o.b.channel, role + ": wgmma");
        },
        [&](const CopyOut& o) {
          add(reads_, o.from.channel,
              fmt::format("{}: bulk {} to {}", role, o.accumulate ? "additions" : "copies",
                          p_.tensor(o.tensor).name));
        },
        [](const auto&) {});
  }

  const Program& p_;
  Texts fills_, reads_;
};

std::string channels(const Program& p, const Glossary& words) {
  const Accesses accesses(p, words);
  Rows rows = {{"channel", "value", "slot", "slots", "bytes", "swizzle", "filled by", "read by"}};
  for_each_inst(p.body, [&](const Inst& inst) {
    const auto* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) return;
    const ValueId id = inst.result();
    const Type& type = p.type(id);
    std::string name = words.channel(id);
    if (words.root(id) != id) name += " (with " + words.channel(words.root(id)) + ")";
    rows.push_back({name, name_of(p, id), tile_text(p, type), std::to_string(type.slots),
                    std::to_string(slot_bytes(p, type, *channel)),
                    channel->swizzle == 0 ? "none" : std::to_string(channel->swizzle), accesses.fills(id),
                    accesses.reads(id)});
  });
  return "channels\n" + table(rows);
}

/// Who does the dots of a program without roles, and why nobody faster.
std::string path_text(const Program& masked, const PassContext& context) {
  const std::string text = "why its dots are not wgmma: " + why_not_wgmma(masked, context);
  const std::string not_mma = why_not_mma(masked, context);
  if (!not_mma.empty()) return fmt::format("{}; nor mma: {}", text, not_mma);
  const WarpGrid grid = warp_grid_of(masked, context);
  return fmt::format("{}; they are mma, of {} x {} warps", text, grid.rows, grid.columns);
}

}  // namespace

std::string roles_text(const Program& ready, const Program& masked, const PassContext& context) {
  const int warps = ready.launch.warps;
  std::string text =
      fmt::format("{} on {}: {} warp{}", ready.name, context.target.arch, warps, warps == 1 ? "" : "s");
  if (!has_roles(ready)) return text + " without roles; " + path_text(masked, context) + "\n";
  if (ready.launch.persistent) text += ", persistent";
  if (ready.launch.counter) text += " with tiles from a counter";
  const Cluster& cluster = ready.launch.cluster;
  if (cluster.axis != AxisId::none)
    text += fmt::format(", clusters of {} blocks along {}", cluster.blocks, ready.axis(cluster.axis).name);
  text += fmt::format(", {} of {} bytes of shared memory\n", ready.launch.shared_bytes,
                      context.target.shared_bytes);
  const Glossary words(ready);
  for (const Role& role : roles_of(ready)) text += role_line(role, words.role(role)) + held(ready, role);
  return text + channels(ready, words);
}

}  // namespace tessera::tools
