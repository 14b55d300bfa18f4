#include "tile_core/interpreter/interpreter.h"

#include <algorithm>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/base/overlap.h"
#include "tile_core/interpreter/executor.h"
#include "tile_core/interpreter/memory.h"

namespace tessera {
namespace {

using namespace interpreter;

/// The blocks of one cluster.
class RunningCluster {
 public:
  RunningCluster(Run& run, Scheduler& scheduler, const InterpretOptions& options)
      : run_(run), scheduler_(scheduler), observer_(options.observer) {
    for (int rank = 0; rank < run.cluster(); ++rank) {
      machines_.emplace_back(run, options.landing, rank);
      watchers_.emplace_back(run, machines_.back(), observer_);
    }
    for (Machine& machine : machines_) machine.join(machines_);
  }

  /// Runs what stands before the roles.
  void enter(std::int64_t first_block) {
    for (int rank = 0; rank < run_.cluster(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      Machine& machine = machines_[at];
      Instance& block = machine.enter_block();
      run_.enter_block(first_block + rank);
      Executor(run_, machine, scheduler_, watchers_[at], block).execute(run_.program.body);
    }
  }
  void leave() {
    for (Machine& machine : machines_) machine.leave_block();
  }

 private:
  Run& run_;
  Scheduler& scheduler_;
  const Observer& observer_;
  std::deque<Machine> machines_;  // by rank
  std::deque<Watcher> watchers_;  // of the machines: roles run after the block that enters them
};

void zero_outputs(const Program& program, const std::vector<TensorView>& tensors) {
  std::vector<std::size_t> zeroed;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!accumulates_into(program, static_cast<TensorId>(i))) continue;
    if (const auto other = overlapping(tensors, i)) {
      throw UserError::format(
          "program {}: '{}' starts as 0, and its memory and that of '{}' overlap; give it memory of its own",
          program.name, program.tensors[i].name, program.tensors[*other].name);
    }
    zeroed.push_back(i);
  }
  for (const std::size_t i : zeroed) set_zero(tensors[i]);
}

/// Blocks that draw their tiles from one counter run side by side, others one cluster after another.
std::int64_t side_by_side(const Run& run) {
  return run.program.launch.counter ? std::max<std::int64_t>(run.blocks() / run.cluster(), 1) : 1;
}

}  // namespace

void interpret(const Program& program, const std::vector<TensorView>& tensors,
               const std::vector<double>& scalars, const InterpretOptions& options) {
  Run run(program, tensors, scalars, options.blocks);
  zero_outputs(program, tensors);
  Scheduler scheduler(run, options.order, options.seed);
  std::deque<RunningCluster> clusters;
  for (std::int64_t i = 0; i < side_by_side(run); ++i) clusters.emplace_back(run, scheduler, options);
  for (std::int64_t block = 0; block < run.blocks();) {
    for (RunningCluster& cluster : clusters) cluster.enter(std::exchange(block, block + run.cluster()));
    scheduler.run();
    for (RunningCluster& cluster : clusters) cluster.leave();
  }
  if (run.drawn() != 0)
    throw InternalError::format("interpreter: {}: the launch ends, but its counter is {}", program.name,
                                run.drawn());
}

}  // namespace tessera
