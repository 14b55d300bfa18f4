#include "tile_core/interpreter/shared_memory.h"

#include <algorithm>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/interpreter/instance.h"
#include "tile_core/ir/print.h"

namespace tessera::interpreter {
namespace {

constexpr double kUnwritten = std::numeric_limits<double>::quiet_NaN();

/// What orders an access of this instance after the earlier one is not there; null where it is.
const char* missing(const Instance& instance, bool asynchronous, const Access& before) {
  const Event& event = before.event;
  bool knows = instance.sees().knows(event);
  bool one_knows = instance.own.knows(event);
  switch (event.agent) {
    case Agent::copies:
      return "no wait covers the copy to it";
    case Agent::bulk:
      return knows ? nullptr : "nobody has waited for the copy to it";
    case Agent::dots:
      if (!one_knows) return "no wait covers the dot that reads it";
      return knows ? nullptr : "no barrier follows the wait for the dot that reads it";
    case Agent::stores:
      if (!one_knows) return "no wait covers the copy out of it";
      return knows ? nullptr : "no barrier follows the wait for the copy out of it";
    default:
      break;
  }
  bool reads = before.what == std::string_view("read");
  if (!knows && before.by == &instance)
    return reads ? "no barrier follows the read" : "no barrier follows the write";
  if (!knows) return reads ? "nothing orders it after the read" : "nothing orders it after the write";
  Event fence{Agent::fences, event.of, event.time};
  if (reads || !asynchronous || instance.sees().knows(fence)) return nullptr;
  return instance.own.knows(fence) ? "no barrier follows the fence" : "no fence follows the write";
}

}  // namespace

bool SharedMemory::Region::meets(const Region& other) const {
  return axis != other.axis || axis == AxisId::none || (first < other.last && other.first < last);
}

bool SharedMemory::Region::covers(const Region& other) const {
  return axis == AxisId::none || (axis == other.axis && first <= other.first && other.last <= last);
}

void SharedMemory::define(ValueId channel) {
  SlotState empty;
  empty.elements.assign(run_.elements(channel), kUnwritten);
  slots_[channel].assign(static_cast<std::size_t>(run_.type(channel).slots), empty);
}

Place SharedMemory::place(const Slot& slot) {
  const Type& type = run_.type(slot.channel);
  std::int64_t ticket = slot.ticket == ValueId::none ? 0 : run_.scalar(slot.ticket);
  std::int64_t number = ticket + slot.offset;
  if (number < 0)
    throw InternalError::format("interpreter: {}: {} has no use {}", run_.program.name,
                                name_of(run_.program, slot.channel), number);
  Place place{slot.channel, static_cast<int>(number % type.slots), number / type.slots, {}, type.axes};
  const Part& part = slot.part;
  if (part.of == AxisId::none) return place;
  place.section = {part.of, part.to, run_.scalar(part.index)};
  std::replace(place.axes.begin(), place.axes.end(), part.of, part.to);
  int parts = run_.program.axis(part.of).extent / run_.program.axis(part.to).extent;
  if (place.section.index < 0 || place.section.index >= parts)
    throw InternalError::format("interpreter: {}: {} has {} parts, none is number {}", run_.program.name,
                                text(place), parts, place.section.index);
  return place;
}

std::string SharedMemory::text(const Place& place) const {
  return fmt::format("slot {} of {}", place.slot, name_of(run_.program, place.channel));
}

SharedMemory::SlotState& SharedMemory::at(const Place& place) {
  return slots_.at(place.channel).at(static_cast<std::size_t>(place.slot));
}

SharedMemory::Region SharedMemory::region(const Place& place) const {
  if (place.section.of == AxisId::none) return {};
  int extent = run_.program.axis(place.section.to).extent;
  return {place.section.of, place.section.index * extent, (place.section.index + 1) * extent};
}

std::vector<int> SharedMemory::index(const Place& place) {
  return run_.alignments.get(place.axes, run_.type(place.channel).axes, place.section);
}

Elements SharedMemory::get(const Place& place) {
  const Elements& elements = at(place).elements;
  if (place.section.of == AxisId::none) return elements;
  Elements result;
  for (int i : index(place)) result.push_back(elements.at(static_cast<std::size_t>(i)));
  return result;
}

void SharedMemory::set(const Place& place, const Elements& elements) {
  Elements& to = at(place).elements;
  std::vector<int> places = index(place);
  for (std::size_t i = 0; i < places.size(); ++i) to.at(static_cast<std::size_t>(places[i])) = elements[i];
}

void SharedMemory::forget(const Place& place) {
  set(place, Elements(index(place).size(), kUnwritten));
}

void SharedMemory::order(const Place& place, const Access& access, const char* verb,
                         const Access& before) const {
  const char* what = missing(*access.by, access.asynchronous, before);
  if (what == nullptr) return;
  fail(run_.program, fmt::format("{} is {}, but {}", text(place), verb, what),
       {{"here", access.inst, access.by}, {before.what, before.inst, before.by}});
}

void SharedMemory::read(const Place& place, const Access& access) {
  SlotState& state = at(place);
  Region where = region(place);
  for (const Mark& write : state.writes) {
    if (write.region.meets(where)) order(place, access, "read", write.access);
  }
  std::erase_if(state.reads, [&](const Mark& read) {
    return read.access.event.agent == access.event.agent && read.access.by == access.by &&
           where.covers(read.region);
  });
  state.reads.push_back({access, where});
}

void SharedMemory::write(const Place& place, const Access& access) {
  SlotState& state = at(place);
  Region where = region(place);
  for (const Mark& write : state.writes) {
    if (write.region.meets(where)) order(place, access, "overwritten", write.access);
  }
  for (const Mark& read : state.reads) {
    if (read.region.meets(where)) order(place, access, "overwritten", read.access);
  }
  auto covered = [&](const Mark& mark) { return where.covers(mark.region); };
  std::erase_if(state.writes, covered);
  std::erase_if(state.reads, covered);
  state.writes.push_back({access, where});
}

void SharedMemory::landed(const Transfer& copy, const Event& event) {
  Region where = region(copy.place);
  for (Mark& write : at(copy.place).writes) {
    if (write.region != where || write.access.event.agent != Agent::copies) continue;
    write.access.what = "write";
    write.access.event = event;
  }
}

void SharedMemory::check_ended(const Place& place, const Instance& instance, const Inst& inst,
                               const char* verb) const {
  const SlotState& state = slots_.at(place.channel).at(static_cast<std::size_t>(place.slot));
  for (const auto* marks : {&state.writes, &state.reads}) {
    for (const Mark& mark : *marks) {
      const Event& event = mark.access.event;
      bool mine = mark.access.by == &instance && event.agent != Agent::bulk;
      if (mine && !instance.own.knows(event)) order(place, {"", &inst, &instance, {}}, verb, mark.access);
    }
  }
}

}  // namespace tessera::interpreter
