#pragma once
#include <functional>
#include <random>
#include <vector>

#include "tile_core/interpreter/instance.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera::interpreter {

/// Runs instances of roles side by side: one at a time, each until it waits.
class Scheduler {
 public:
  Scheduler(Run& run, Order order, unsigned seed) : run_(run), order_(order), random_(seed) {}

  /// Throws what the body throws, or an InternalError that says what each instance waits for where none can
  /// go on.
  void run(const std::vector<Instance*>& instances, const std::function<void(Instance&)>& body);

 private:
  Instance* next(std::vector<Instance*> instances);
  [[noreturn]] void deadlock(const std::vector<Instance*>& instances);

  Run& run_;
  Order order_;
  std::mt19937 random_;
};

}  // namespace tessera::interpreter
