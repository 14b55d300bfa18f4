#include "tools/event_words.h"

#include <fmt/ranges.h>

#include "tools/registers.h"

namespace tessera::tools {
namespace {

std::string waits_text(const char* what, int pending) {
  return pending == 0 ? fmt::format("waits for all {}", what)
                      : fmt::format("waits for {} but {}", what, pending);
}

/// "key[0, 0, 64, 0]"
std::string box(const Program& p, TensorId tensor, const Executed& executed) {
  return fmt::format("{}[{}]", p.tensor(tensor).name, fmt::join(executed.starts, ", "));
}

}  // namespace

std::string slot_text(const Program& program, const Glossary& words, const SlotUse& use) {
  const std::string& name = words.channel(use.channel);
  return program.type(use.channel).slots > 1 ? fmt::format("{} {}", name, use.slot) : name;
}

std::string event_text(const Program& p, const Glossary& words, const Executed& executed) {
  auto slot = [&](std::size_t i) { return slot_text(p, words, executed.slots.at(i)); };
  auto operands = [&](AxisId axis, const DotOperand& a) {
    const std::string& name = p.axis(axis).name;
    return a.value == ValueId::none ? fmt::format("{}: {}, {}", name, slot(0), slot(1))
                                    : fmt::format("{}: registers, {}", name, slot(0));
  };
  return match(
      executed.inst.op,
      [&](const CopyIn& o) {
        return fmt::format("copies {} to {}{}", box(p, o.load.tensor, executed), slot(0),
                           o.multicast ? " of all blocks" : "");
      },
      [&](const CopyOut& o) {
        return fmt::format("{} {} to {}", o.accumulate ? "adds" : "copies", slot(0),
                           box(p, o.tensor, executed));
      },
      [&](const Load& o) { return "loads " + box(p, o.tensor, executed); },
      [&](const Store& o) { return (o.accumulate ? "adds to " : "stores ") + box(p, o.tensor, executed); },
      [&](const WriteShared&) { return "writes " + slot(0); },
      [&](const ReadShared&) { return "reads " + slot(0); },
      [&](const DrawTile&) { return std::string("draws the next tile"); },
      [&](const DotShared& o) { return "dot " + operands(o.axis, o.a); },
      [&](const IssueDot& o) { return "issues dot " + operands(o.axis, o.a); },
      [&](const WaitDots& o) { return waits_text("dots", o.pending); },
      [&](const WaitCopies& o) { return waits_text("copies", o.pending); },
      [&](const WaitStores& o) { return waits_text("stores", o.pending); },
      [&](const Barrier&) { return std::string("barrier"); }, [](const auto&) { return std::string(); });
}

std::string arithmetic_text(const Program& program, const Inst& inst) {
  if (inst.results.size() != 1 || registers_of(program.type(inst.result())) == 0) return "";
  return match(
      inst.op, [](const Unary& o) { return std::string(name_of(o.fn)); },
      [](const Binary& o) { return std::string(name_of(o.fn)); },
      [](const Reduce& o) { return std::string(name_of(o.fn)); },
      [](const ReduceWarp& o) { return std::string(name_of(o.fn)); },
      [](const Fma&) { return std::string("fma"); }, [](const Select&) { return std::string("select"); },
      [](const Cast&) { return std::string("cast"); }, [](const auto&) { return std::string(); });
}

}  // namespace tessera::tools
