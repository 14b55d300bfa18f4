#include "tile_core/interpreter/scheduler.h"

#include <algorithm>
#include <deque>

#include "tile_core/base/error.h"
#include "tile_core/interpreter/fibers.h"

namespace tessera::interpreter {

Instance* Scheduler::next(std::vector<Instance*> instances) {
  if (order_ == Order::last) std::reverse(instances.begin(), instances.end());
  if (order_ == Order::random) std::shuffle(instances.begin(), instances.end(), random_);
  auto found = std::find_if(instances.begin(), instances.end(), [](Instance* instance) {
    return !instance->fiber->ended() && (!instance->goes_on || instance->goes_on());
  });
  return found == instances.end() ? nullptr : *found;
}

void Scheduler::run(const std::vector<Instance*>& instances, const std::function<void(Instance&)>& body) {
  std::deque<Fiber> fibers;
  for (Instance* instance : instances) {
    instance->fiber = &fibers.emplace_back([instance, &body] { body(*instance); });
    instance->goes_on = nullptr;
  }
  while (Instance* instance = next(instances)) {
    instance->goes_on = nullptr;
    run_.use(instance->frame);
    instance->fiber->resume();
  }
  bool all_ended = std::all_of(fibers.begin(), fibers.end(), [](const Fiber& f) { return f.ended(); });
  if (!all_ended) deadlock(instances);
}

void Scheduler::deadlock(const std::vector<Instance*>& instances) {
  std::string text;
  for (const Instance* instance : instances) {
    bool ended = instance->fiber->ended();
    text += fmt::format("\n   {} {}", instance->name, ended ? "has ended" : "waits for " + instance->lacks());
    if (!ended) text += ": " + located(run_.program, *instance->waits_in);
  }
  throw InternalError::format("interpreter: {}: no role can go on{}", run_.program.name, text);
}

}  // namespace tessera::interpreter
