#include "tile_core/interpreter/interpreter.h"

#include "tile_core/interpreter/executor.h"

namespace tessera {

void interpret(const Program& program, const std::vector<TensorView>& tensors,
               const std::vector<double>& scalars, const InterpretOptions& options) {
  interpreter::Run run(program, tensors, scalars, options.blocks);
  interpreter::Machine machine(run, options.landing);
  interpreter::Scheduler scheduler(run, options.order, options.seed);
  interpreter::Watcher watcher(run, machine, options.observer);
  for (std::int64_t number = 0; number < run.blocks(); ++number) {
    interpreter::Instance& block = machine.enter_block();
    run.enter_block(number);
    interpreter::Executor(run, machine, scheduler, watcher, block).execute(program.body);
    machine.leave_block();
  }
}

}  // namespace tessera
