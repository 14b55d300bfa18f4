#pragma once
#include "tile_core/interpreter/machine.h"
#include "tile_core/interpreter/observer.h"

namespace tessera::interpreter {

/// Tells an observer, where there is one, what instances execute.
class Watcher {
 public:
  Watcher(Run& run, Machine& machine, const Observer& observer)
      : run_(run), machine_(machine), observer_(observer) {}

  void executed(const Instance& by, const Inst& inst) const {
    if (observer_) tell(by, inst);
  }
  void iteration(const Instance& by, const Inst& loop, std::int64_t start) const {
    if (observer_) observer_(made(by, loop, {}, {start}));
  }

 private:
  void tell(const Instance& by, const Inst& inst) const;
  Executed made(const Instance& by, const Inst& inst, std::vector<SlotUse> slots,
                std::vector<std::int64_t> starts) const;
  std::vector<std::int64_t> starts_of(const std::vector<Subscript>& subscripts) const;

  Run& run_;
  Machine& machine_;
  const Observer& observer_;
};

}  // namespace tessera::interpreter
