#include "tile_core/interpreter/machine.h"

#include <cmath>
#include <limits>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/interpreter/dot.h"
#include "tile_core/ir/print.h"

namespace tessera::interpreter {
namespace {

constexpr double kUnwritten = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Machine::Machine(Run& run, Landing landing)
    : run_(run), landing_(landing), checked_(run.program.stage >= Stage::synced) {}

void Machine::enter_block() {
  channels_.clear();
  open_.clear();
  groups_.clear();
}

void Machine::leave_block() {
  if (!open_.empty()) groups_.push_back(std::exchange(open_, {}));
  for (const auto& group : groups_) {
    if (group.empty()) continue;
    const Inst& inst = *group.front().inst;
    throw InternalError::format(
        "interpreter: {}: the program ends, but no wait covers a copy\n   copy: {}   --> {}:{}",
        run_.program.name, to_text(run_.program, inst), inst.loc.file, inst.loc.line);
  }
}

void Machine::channel(const Inst& inst) {
  const Type& type = run_.type(inst.result());
  SlotState empty;
  empty.elements.assign(run_.elements(inst.result()), kUnwritten);
  channels_[inst.result()].assign(static_cast<std::size_t>(type.slots), empty);
}

Machine::SlotState& Machine::at(const Slot& slot) {
  std::vector<SlotState>& slots = channels_.at(slot.channel);
  std::int64_t ticket = slot.ticket == ValueId::none ? 0 : run_.scalar(slot.ticket);
  return slots[static_cast<std::size_t>(ticket + slot.offset) % slots.size()];
}

std::string Machine::text(const Slot& slot) {
  std::int64_t number = &at(slot) - channels_.at(slot.channel).data();
  return fmt::format("slot {} of {}", number, name_of(run_.program, slot.channel));
}

void Machine::fail(const Inst& inst, const Slot& slot, const char* what, const char* other_role,
                   const Inst& other) {
  auto line = [&](const char* role, const Inst& i) {
    return fmt::format("\n   {}: {}   --> {}:{}", role, to_text(run_.program, i), i.loc.file, i.loc.line);
  };
  throw InternalError::format("interpreter: {}: {} {}{}{}", run_.program.name, text(slot), what,
                              line("here", inst), line(other_role, other));
}

const Elements& Machine::readable(const Inst& inst, const Slot& slot) {
  SlotState& state = at(slot);
  if (!checked_) return state.elements;
  if (state.phase == Phase::copying)
    fail(inst, slot, "is read, but no wait covers the copy to it", "copy", *state.writer);
  if (state.phase == Phase::written)
    fail(inst, slot, "is read, but no barrier follows the write", "write", *state.writer);
  state.reader = &inst;
  return state.elements;
}

Machine::SlotState& Machine::writable(const Inst& inst, const Slot& slot) {
  SlotState& state = at(slot);
  if (!checked_) return state;
  if (state.phase == Phase::copying)
    fail(inst, slot, "is overwritten, but no wait covers the copy to it", "copy", *state.writer);
  if (state.reader != nullptr)
    fail(inst, slot, "is overwritten, but no barrier follows the read", "read", *state.reader);
  if (state.phase == Phase::written)
    fail(inst, slot, "is overwritten, but no barrier follows the write", "write", *state.writer);
  state.phase = Phase::written;
  state.writer = &inst;
  return state;
}

void Machine::copy(const Inst& inst, const CopyIn& copy) {
  SlotState& state = writable(inst, copy.to);
  const std::vector<AxisId>& axes = run_.type(copy.to.channel).axes;
  Copy issued{&state, &inst, copy.load.tensor, footprint(run_, copy.load.tensor, copy.load.subscripts, axes)};
  bool at_once = !checked_ || !copy.async || landing_ == Landing::first;
  if (at_once) {
    land(issued);
  } else {
    state.elements.assign(state.elements.size(), kUnwritten);
  }
  if (!checked_ || !copy.async) return;
  state.phase = Phase::copying;
  open_.push_back(std::move(issued));
}

void Machine::land(const Copy& copy) {
  load(run_.tensors[index_of(copy.tensor)], copy.from, copy.to->elements);
}

void Machine::commit() {
  groups_.push_back(std::exchange(open_, {}));
}

void Machine::wait(int pending) {
  while (groups_.size() > static_cast<std::size_t>(pending)) {
    for (const Copy& copy : groups_.front()) {
      if (landing_ == Landing::last) land(copy);
      copy.to->phase = Phase::written;
    }
    groups_.pop_front();
  }
}

void Machine::barrier() {
  for (auto& [channel, slots] : channels_) {
    for (SlotState& state : slots) {
      state.reader = nullptr;
      if (state.phase == Phase::written) state.phase = Phase::visible;
    }
  }
}

void Machine::write(const Inst& inst, const WriteShared& write) {
  Elements& to = writable(inst, write.to).elements;
  const std::vector<int>& index =
      run_.alignments.get(run_.type(write.to.channel).axes, run_.type(write.value).axes);
  const Elements& value = run_.value(write.value);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = value[static_cast<std::size_t>(index[i])];
}

void Machine::read(const Inst& inst, const ReadShared& read) {
  const Elements& from = readable(inst, read.from);
  const std::vector<int>& index =
      run_.alignments.get(run_.type(inst.result()).axes, run_.type(read.from.channel).axes);
  Elements& value = run_.value(inst.result());
  value.resize(index.size());
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = from[static_cast<std::size_t>(index[i])];
}

void Machine::dot(const Inst& inst, const DotShared& dot) {
  const Elements& a = readable(inst, dot.a);
  const Elements& b = readable(inst, dot.b);
  interpreter::dot(run_, inst.result(), {run_.type(dot.a.channel).axes, a},
                   {run_.type(dot.b.channel).axes, b}, dot.axis, dot.accumulator);
}

}  // namespace tessera::interpreter
