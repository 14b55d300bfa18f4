#pragma once
#include <vector>

#include "tile_core/interpreter/machine.h"
#include "tile_core/interpreter/scheduler.h"
#include "tile_core/interpreter/watcher.h"

namespace tessera::interpreter {

/// Executes blocks of instructions in order, as one instance.
class Executor {
 public:
  Executor(Run& run, Machine& machine, Scheduler& scheduler, const Watcher& watcher, Instance& instance)
      : run_(run), machine_(machine), scheduler_(scheduler), watcher_(watcher), instance_(instance) {}

  void execute(const Block& block);

 private:
  void execute(const Inst& inst);
  void loop(const Inst& inst, const Loop& o);
  void branch(const Inst& inst, const If& o);
  void roles(const Roles& o);
  void copy(const Inst& inst, const std::vector<ValueId>& from, const std::vector<ValueId>& to);

  Run& run_;
  Machine& machine_;
  Scheduler& scheduler_;
  const Watcher& watcher_;
  Instance& instance_;
};

}  // namespace tessera::interpreter
