#include "tile_core/interpreter/executor.h"

#include "tile_core/base/match.h"
#include "tile_core/interpreter/evaluate.h"
#include "tile_core/interpreter/memory.h"

namespace tessera::interpreter {
namespace {

/// Whether an instruction writes registers itself: the dots do that when they happen.
bool writes_registers(const Op& op) {
  return !std::holds_alternative<IssueDot>(op) && !std::holds_alternative<WaitDots>(op) &&
         !std::holds_alternative<Undefined>(op);
}

}  // namespace

void Executor::execute(const Block& block) {
  for (const Inst& inst : block.insts) {
    match(
        inst.op, [&](const Loop& o) { loop(inst, o); }, [&](const If& o) { branch(inst, o); },
        [&](const Roles& o) { roles(o); }, [&](const auto&) { execute(inst); });
  }
}

void Executor::execute(const Inst& inst) {
  ++instance_.steps;
  machine_.check_operands(instance_, inst);
  for (ValueId id : inst.results) machine_.check_registers(instance_, inst, id);
  match(
      inst.op,
      [&](const Load& o) {
        load(run_.tensors[index_of(o.tensor)],
             footprint(run_, o.tensor, o.subscripts, run_.type(inst.result()).axes),
             run_.value(inst.result()));
      },
      [&](const Store& o) { store(run_, o); },
      [&](const auto& o) {
        if constexpr (requires { machine_.execute(instance_, inst, o); }) {
          machine_.execute(instance_, inst, o);
        } else {
          evaluate(run_, inst);
        }
      });
  if (writes_registers(inst.op)) {
    for (ValueId id : inst.results) {
      run_.at(id).writer = &inst;
      run_.at(id).written = instance_.steps;
    }
  }
  watcher_.executed(instance_, inst);
}

void Executor::loop(const Inst& inst, const Loop& o) {
  copy(inst, o.carried, o.parameters);
  std::int64_t end = run_.scalar(o.end);
  const auto next = [&](std::int64_t start) {
    if (o.draws_its_starts()) return run_.scalar(o.parameters.front());
    return start + (o.axis == AxisId::none ? run_.scalar(o.step) : run_.program.axis(o.axis).extent);
  };
  std::int64_t ticket = o.first_ticket == ValueId::none ? 0 : run_.scalar(o.first_ticket);
  for (std::int64_t start = run_.scalar(o.begin); start < end; ++ticket) {
    if (o.axis != AxisId::none) run_.set_start(o.axis, start);
    if (o.start != ValueId::none) run_.value(o.start) = {static_cast<double>(start)};
    if (o.ticket != ValueId::none) run_.value(o.ticket) = {static_cast<double>(ticket)};
    watcher_.iteration(instance_, inst, start);
    execute(o.body);
    copy(inst, o.body.yields, o.parameters);
    start = next(start);
  }
  copy(inst, o.parameters, inst.results);
}

void Executor::branch(const Inst& inst, const If& o) {
  const Block& block = run_.scalar(o.condition) != 0 ? o.then : o.otherwise;
  execute(block);
  copy(inst, block.yields, inst.results);
}

/// Roles run once every block of the cluster has come here.
void Executor::roles(const Roles& o) {
  scheduler_.add(machine_.enter_roles(o), [&run = run_, &machine = machine_, &scheduler = scheduler_,
                                           &watcher = watcher_](Instance& instance) {
    Executor(run, machine, scheduler, watcher, instance).execute(instance.role->body);
    machine.leave(instance);
  });
}

/// All at once: what a body yields may be parameters in another order.
void Executor::copy(const Inst& inst, const std::vector<ValueId>& from, const std::vector<ValueId>& to) {
  std::vector<Value> copies;
  copies.reserve(from.size());
  for (ValueId id : from) copies.push_back(run_.at(id));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i] != to[i]) machine_.check_registers(instance_, inst, to[i]);
    run_.at(to[i]) = std::move(copies[i]);
  }
}

}  // namespace tessera::interpreter
