#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace tessera::interpreter {

/// What acts at a pace of its own: the threads of an instance; its fences, which show the copy engine and
/// dots what the threads have written; the groups of its asynchronous copies, copies out and dots; the bulk
/// copies to a slot.
enum class Agent : std::uint8_t { threads, fences, copies, stores, dots, bulk };

/// What an agent of the instance, or of the slot, with the number `of` does at its time, from 1 on.
struct Event {
  Agent agent{};
  int of = 0;
  std::int64_t time = 0;
};

/// Up to which time everything of each agent is known to have happened.
class Clock {
 public:
  bool knows(const Event& event) const {
    auto found = times_.find({event.agent, event.of});
    return found != times_.end() && found->second >= event.time;
  }
  void learn(const Event& event) {
    std::int64_t& time = times_[{event.agent, event.of}];
    time = std::max(time, event.time);
  }
  void learn(const Clock& other) {
    for (const auto& [agent, time] : other.times_) learn({agent.first, agent.second, time});
  }

 private:
  std::map<std::pair<Agent, int>, std::int64_t> times_;
};

}  // namespace tessera::interpreter
