#include "tile_core/interpreter/scheduler.h"

#include <algorithm>

#include "tile_core/base/error.h"

namespace tessera::interpreter {

void Scheduler::add(const std::vector<Instance*>& instances, const std::function<void(Instance&)>& body) {
  for (Instance* instance : instances) {
    instance->fiber = &fibers_.emplace_back([instance, body] { body(*instance); });
    instance->goes_on = nullptr;
    instances_.push_back(instance);
  }
}

Instance* Scheduler::next() {
  std::vector<Instance*> instances = instances_;
  if (order_ == Order::last) std::reverse(instances.begin(), instances.end());
  if (order_ == Order::random) std::shuffle(instances.begin(), instances.end(), random_);
  auto found = std::find_if(instances.begin(), instances.end(), [](Instance* instance) {
    return !instance->fiber->ended() && (!instance->goes_on || instance->goes_on());
  });
  return found == instances.end() ? nullptr : *found;
}

void Scheduler::run() {
  while (Instance* instance = next()) {
    instance->goes_on = nullptr;
    run_.use(instance->frame);
    instance->fiber->resume();
  }
  bool all_ended = std::all_of(fibers_.begin(), fibers_.end(), [](const Fiber& f) { return f.ended(); });
  if (!all_ended) deadlock();
  fibers_.clear();
  instances_.clear();
}

void Scheduler::deadlock() const {
  std::string text;
  for (const Instance* instance : instances_) {
    bool ended = instance->fiber->ended();
    text += fmt::format("\n   {} {}", instance->name, ended ? "has ended" : "waits for " + instance->lacks());
    if (!ended) text += ": " + located(run_.program, *instance->waits_in);
  }
  throw InternalError::format("interpreter: {}: no role can go on{}", run_.program.name, text);
}

}  // namespace tessera::interpreter
