#include "tile_core/interpreter/interpreter.h"

#include "tile_core/base/match.h"
#include "tile_core/interpreter/evaluate.h"
#include "tile_core/interpreter/machine.h"
#include "tile_core/interpreter/memory.h"
#include "tile_core/interpreter/run.h"

namespace tessera {
namespace interpreter {
namespace {

/// Executes the instructions of a block in order.
class Executor {
 public:
  Executor(Run& run, Landing landing) : run_(run), machine_(run, landing) {}

  void grid() {
    for (std::int64_t number = 0; number < run_.blocks(); ++number) {
      run_.enter_block(number);
      machine_.enter_block();
      body(run_.program.body);
      machine_.leave_block();
    }
  }

 private:
  void body(const Block& block) {
    for (const Inst& inst : block.insts) {
      match(
          inst.op, [&](const Loop& o) { loop(inst, o); },
          [&](const Load& o) {
            load(run_.tensors[index_of(o.tensor)],
                 footprint(run_, o.tensor, o.subscripts, run_.type(inst.result()).axes),
                 run_.value(inst.result()));
          },
          [&](const Store& o) { store(run_, o); }, [&](const Channel&) { machine_.channel(inst); },
          [&](const CopyIn& o) { machine_.copy(inst, o); }, [&](const CommitCopies&) { machine_.commit(); },
          [&](const WaitCopies& o) { machine_.wait(o.pending); }, [&](const Barrier&) { machine_.barrier(); },
          [&](const WriteShared& o) { machine_.write(inst, o); },
          [&](const ReadShared& o) { machine_.read(inst, o); },
          [&](const DotShared& o) { machine_.dot(inst, o); }, [&](const auto&) { evaluate(run_, inst); });
    }
  }

  void loop(const Inst& inst, const Loop& o) {
    copy(o.carried, o.parameters);
    std::int64_t end = run_.scalar(o.end);
    int extent = run_.program.axis(o.axis).extent;
    std::int64_t ticket = 0;
    for (std::int64_t start = run_.scalar(o.begin); start < end; start += extent, ++ticket) {
      run_.set_start(o.axis, start);
      if (o.start != ValueId::none) run_.value(o.start) = {static_cast<double>(start)};
      if (o.ticket != ValueId::none) run_.value(o.ticket) = {static_cast<double>(ticket)};
      body(o.body);
      copy(o.body.yields, o.parameters);
    }
    copy(o.parameters, inst.results);
  }

  /// All at once: what a body yields may be parameters in another order.
  void copy(const std::vector<ValueId>& from, const std::vector<ValueId>& to) {
    std::vector<Elements> copies;
    copies.reserve(from.size());
    for (ValueId id : from) copies.push_back(run_.value(id));
    for (std::size_t i = 0; i < to.size(); ++i) run_.value(to[i]) = std::move(copies[i]);
  }

  Run& run_;
  Machine machine_;
};

}  // namespace
}  // namespace interpreter

void interpret(const Program& program, const std::vector<TensorView>& tensors,
               const std::vector<double>& scalars, const InterpretOptions& options) {
  interpreter::Run run(program, tensors, scalars);
  interpreter::Executor(run, options.landing).grid();
}

}  // namespace tessera
