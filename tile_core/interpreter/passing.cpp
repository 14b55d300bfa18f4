#include "tile_core/interpreter/passing.h"

#include <fmt/format.h>

#include "tile_core/ir/print.h"

namespace tessera::interpreter {

Passing::Passing(Run& run, SharedMemory& memory, bool lazy, int rank)
    : run_(run), memory_(memory), lazy_(lazy), protocols_(protocols(run.program)), rank_(rank) {
  for (const Role& role : roles_of(run.program)) {
    for (const auto& [channel, protocol] : protocols_)
      releases_[{&role, channel}] = release_arrivals(run.program, role, channel);
  }
}

void Passing::enter_block() {
  channels_.clear();
  slots_ = 0;
}

void Passing::define(const Inst& inst, const Channel& channel) {
  ValueId id = inst.result();
  roots_[id] = channel.with == ValueId::none ? id : roots_.at(channel.with);
  auto protocol = protocols_.find(id);
  if (protocol == protocols_.end()) return;
  for (int i = 0; i < run_.type(id).slots; ++i) {
    Passed slot{.place = {.channel = id, .slot = i},
                .full = MBarrier(protocol->second.commits),
                .empty = MBarrier(protocol->second.releases)};
    slot.number = slots_++ * run_.cluster() + rank_;
    channels_[id].push_back(std::move(slot));
  }
}

Passing::Passed& Passing::at(const Place& place) {
  return channels_.at(roots_.at(place.channel)).at(static_cast<std::size_t>(place.slot));
}

void Passing::fail(const Instance& instance, const Inst& inst, const Passed& slot,
                   const std::string& what) const {
  interpreter::fail(run_.program, fmt::format("{} {}", memory_.text(slot.place), what),
                    {{"here", &inst, &instance}, slot.last});
}

void Passing::pass(Instance& instance, const Inst& inst, const PassSlot& pass) {
  Place place = memory_.place(pass.slot);
  Passed& slot = at(place);
  switch (pass.step) {
    case SlotStep::acquire:
      acquire(instance, inst, slot, place.use);
      break;
    case SlotStep::commit:
      commit(instance, inst, slot);
      break;
    case SlotStep::wait:
      wait(instance, inst, slot, place.use);
      break;
    case SlotStep::release:
      release(instance, inst, slot);
      break;
    case SlotStep::skip:
      wait(instance, inst, slot, place.use);
      release(instance, inst, slot);
      break;
  }
  slot.last = {"last", &inst, &instance};
}

void Passing::wait_for(Instance& instance, const Inst& inst, Passed& slot, MBarrier& barrier,
                       std::int64_t phase) {
  auto passes = [&] {
    if (!barrier.passes(phase) && &barrier == &slot.full && lazy_ && !barrier.lacks_arrivals()) land(slot);
    return barrier.passes(phase);
  };
  const char* what = &barrier == &slot.full ? "commit" : "release";
  instance.wait(inst, passes, [&] {
    return fmt::format("{0} {1} of {2}; {0} {3} lacks {4}", what, phase + 1, memory_.text(slot.place),
                       barrier.ended() + 1, barrier.lacks());
  });
  if (barrier.ended() != phase + 1)
    fail(instance, inst, slot,
         fmt::format("passes a wait for {0} {1} by the parity of its barrier, but the last was {0} {2}", what,
                     phase + 1, barrier.ended()));
  instance.learn(barrier.clock());
}

const Passing::Use* Passing::writing(const Instance& instance, const Inst& inst, Passed& slot) {
  bool once = protocols_.at(slot.place.channel).releases == 0;
  if (once && slot.full.ended() == 0 && slot.full.lacks_arrivals())
    slot.writers.try_emplace(&instance, Use{0, &inst});
  auto writer = slot.writers.find(&instance);
  return writer == slot.writers.end() ? nullptr : &writer->second;
}

void Passing::acquire(Instance& instance, const Inst& inst, Passed& slot, std::int64_t use) {
  if (slot.writers.contains(&instance))
    fail(instance, inst, slot, "is acquired, but what was acquired before is not committed");
  wait_for(instance, inst, slot, slot.empty, use - 1);
  slot.writers[&instance] = {use, &inst};
}

void Passing::commit(Instance& instance, const Inst& inst, Passed& slot) {
  if (writing(instance, inst, slot) == nullptr) fail(instance, inst, slot, "is committed, but not acquired");
  slot.writers.erase(&instance);
  check_ended(instance, inst, slot, "committed");
  slot.full.expect(protocols_.at(slot.place.channel).bulk_bytes);
  slot.full.arrive(commit_arrivals(*instance.role), instance.own);
}

void Passing::wait(Instance& instance, const Inst& inst, Passed& slot, std::int64_t use) {
  auto reader = slot.readers.find(&instance);
  if (reader != slot.readers.end() && reader->second.number != use)
    fail(instance, inst, slot, "is waited for, but what was waited for before is not released");
  wait_for(instance, inst, slot, slot.full, use);
  slot.readers[&instance] = {use, &inst};
}

void Passing::release(Instance& instance, const Inst& inst, Passed& slot) {
  if (slot.readers.erase(&instance) == 0) fail(instance, inst, slot, "is released, but not waited for");
  check_ended(instance, inst, slot, "released");
  const int arrivals = releases_.at({instance.role, slot.place.channel});
  if (protocols_.at(slot.place.channel).blocks == 1) return slot.empty.arrive(arrivals, instance.own);
  for (Passing* block : cluster_) block->at(slot.place).empty.arrive(arrivals, instance.own);
}

void Passing::check_ended(const Instance& instance, const Inst& inst, const Passed& slot, const char* verb) {
  for (const auto& [channel, root] : roots_) {
    Place place = slot.place;
    place.channel = channel;
    if (root == slot.place.channel) memory_.check_ended(place, instance, inst, verb);
  }
}

void Passing::copy(const Instance& instance, const Transfer& copy, bool multicast) {
  Passed& slot = at(copy.place);
  const Use* use = writing(instance, *copy.inst, slot);
  if (use == nullptr)
    fail(instance, *copy.inst, slot, fmt::format("is written, but {} has not acquired it", instance.name));
  if (!multicast) return receive(instance, copy, use->number);
  for (Passing* block : cluster_) block->receive(instance, copy, use->number);
}

void Passing::receive(const Instance& instance, const Transfer& copy, std::int64_t use) {
  Passed& slot = at(copy.place);
  Event landed{Agent::bulk, slot.number, use + 1};
  memory_.write(copy.place, {"copy", copy.inst, &instance, landed, true});
  memory_.forget(copy.place);
  slot.coming.push_back(copy);
  if (!lazy_) land(slot);
}

void Passing::land(Passed& slot) {
  for (const Transfer& copy : slot.coming) {
    Elements elements;
    load(run_.tensors[index_of(copy.tensor)], copy.elements, elements);
    memory_.set(copy.place, elements);
    auto bytes = static_cast<std::int64_t>(elements.size()) * size_of(run_.type(copy.place.channel).dtype);
    slot.full.land(bytes, {Agent::bulk, slot.number, slot.full.ended() + 1});
  }
  slot.coming.clear();
}

void Passing::check_reader(const Instance& instance, const Inst& inst, const Place& place) {
  if (!passes(place.channel)) return;
  Passed& slot = at(place);
  if (slot.readers.contains(&instance) || slot.writers.contains(&instance)) return;
  fail(instance, inst, slot, fmt::format("is read, but {} has not waited for it", instance.name));
}

void Passing::check_writer(const Instance& instance, const Inst& inst, const Place& place) {
  if (!passes(place.channel)) return;
  Passed& slot = at(place);
  if (slot.readers.contains(&instance) || writing(instance, inst, slot) != nullptr) return;
  fail(instance, inst, slot, fmt::format("is written, but {} has not acquired it", instance.name));
}

void Passing::leave(const Instance& instance) const {
  auto check = [&](const Passed& slot, const std::map<const Instance*, Use>& uses, const char* what) {
    auto use = uses.find(&instance);
    if (use == uses.end()) return;
    interpreter::fail(run_.program,
                      fmt::format("{} ends, but {} {}", instance.name, memory_.text(slot.place), what),
                      {{"here", use->second.inst, &instance}});
  };
  for (const auto& [channel, slots] : channels_) {
    for (const Passed& slot : slots) {
      check(slot, slot.writers, "is acquired and not committed");
      if (protocols_.at(channel).releases > 0) check(slot, slot.readers, "is waited for and not released");
    }
  }
}

void Passing::leave_block() const {
  for (const auto& [channel, slots] : channels_) {
    bool once = protocols_.at(channel).releases == 0;
    for (const Passed& slot : slots) {
      if (!slot.coming.empty())
        interpreter::fail(
            run_.program,
            fmt::format("the program ends, but nobody waits for a copy to {}", memory_.text(slot.place)),
            {{"copy", slot.coming.front().inst}, slot.last});
      bool still = slot.full.is_fresh() && slot.empty.is_fresh();
      if (still && (once || slot.full.ended() == slot.empty.ended())) continue;
      interpreter::fail(run_.program,
                        fmt::format("the program ends, but {} has been committed {} times and released {} "
                                    "times",
                                    memory_.text(slot.place), slot.full.ended(), slot.empty.ended()),
                        {slot.last});
    }
  }
}

}  // namespace tessera::interpreter
