#pragma once
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "tile_core/interpreter/fibers.h"
#include "tile_core/interpreter/instance.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera::interpreter {

/// Runs instances of roles side by side, of one block or several: one at a time, each until it waits.
class Scheduler {
 public:
  Scheduler(Run& run, Order order, unsigned seed) : run_(run), order_(order), random_(seed) {}

  /// The next run runs the body for each of these, too.
  void add(const std::vector<Instance*>& instances, const std::function<void(Instance&)>& body);
  /// Throws what a body throws, or an InternalError that says what each instance waits for where none can go
  /// on.
  void run();

 private:
  Instance* next();
  [[noreturn]] void deadlock() const;

  Run& run_;
  Order order_;
  std::mt19937 random_;
  std::vector<Instance*> instances_;
  std::deque<Fiber> fibers_;  // of the instances
};

}  // namespace tessera::interpreter
