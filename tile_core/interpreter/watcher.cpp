#include "tile_core/interpreter/watcher.h"

#include "tile_core/base/match.h"

namespace tessera::interpreter {

Executed Watcher::made(const Instance& by, const Inst& inst, std::vector<SlotUse> slots,
                       std::vector<std::int64_t> starts) const {
  return {inst, by.role, by.index, run_.block(), std::move(slots), std::move(starts)};
}

std::vector<std::int64_t> Watcher::starts_of(const std::vector<Subscript>& subscripts) const {
  std::vector<std::int64_t> starts;
  for (const Subscript& subscript : subscripts)
    starts.push_back(subscript.value == ValueId::none ? run_.start(subscript.axis, ValueId::none)
                                                      : run_.scalar(subscript.value));
  return starts;
}

void Watcher::tell(const Instance& by, const Inst& inst) const {
  std::vector<SlotUse> slots;
  std::vector<std::int64_t> starts;
  auto name = [&](const Slot& slot) {
    Place place = machine_.place(slot);
    slots.push_back({place.channel, place.slot, place.use});
  };
  auto operands = [&](const DotOperand& a, const Slot& b) {
    if (a.value == ValueId::none) name(a.slot);
    name(b);
  };
  match(
      inst.op, [&](const PassSlot& o) { name(o.slot); }, [&](const View& o) { name(o.slot); },
      [&](const WriteShared& o) { name(o.to); }, [&](const ReadShared& o) { name(o.from); },
      [&](const DotShared& o) { operands(o.a, o.b); }, [&](const IssueDot& o) { operands(o.a, o.b); },
      [&](const CopyIn& o) { name(o.to), starts = starts_of(o.load.subscripts); },
      [&](const CopyOut& o) { name(o.from), starts = starts_of(o.subscripts); },
      [&](const Load& o) { starts = starts_of(o.subscripts); },
      [&](const Store& o) { starts = starts_of(o.subscripts); }, [](const auto&) {});
  observer_(made(by, inst, std::move(slots), std::move(starts)));
}

}  // namespace tessera::interpreter
