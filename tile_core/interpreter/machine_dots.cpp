#include <fmt/format.h>

#include "tile_core/interpreter/dot.h"
#include "tile_core/interpreter/machine.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera::interpreter {

DotKind Machine::kind_of(const DotOperand& a, const Slot& b, Precision precision) {
  const ValueId left = a.value != ValueId::none ? a.value : a.slot.channel;
  return {run_.type(left).dtype, run_.type(b.channel).dtype, precision};
}

void Machine::compute(IssuedDot& dot) {
  const IssueDot& o = std::get<IssueDot>(dot.inst->op);
  const std::vector<AxisId>& axes = run_.type(dot.inst->result()).axes;
  const std::vector<AxisId>& a_axes =
      o.a.value != ValueId::none ? run_.type(o.a.value).axes : dot.a_place.axes;
  if (o.a.value == ValueId::none) dot.a = memory_.get(dot.a_place);
  dot.result = interpreter::dot(run_, axes, {a_axes, dot.a}, {dot.b_place.axes, memory_.get(dot.b_place)},
                                o.axis, kind_of(o.a, o.b, Precision::ieee),
                                dot.onto != nullptr ? dot.onto->result : dot.start);
  dot.onto.reset();
}

void Machine::execute(Instance& by, const Inst& inst, const IssueDot& o) {
  auto dot = std::make_shared<IssuedDot>();
  dot->inst = &inst;
  dot->group = by.dots.open_number();
  if (issued_dots_checked_ && by.dots_fence == nullptr)
    fail(run_.program, "a dot is issued, but no fence_dots since the last commit",
         {{"here", &inst, &by}, {"commit", by.dots_commit, &by}});
  Event event{Agent::dots, by.number, dot->group};
  if (o.a.value == ValueId::none) {
    dot->a_place = read(by, inst, o.a.slot, "dot", event);
  } else {
    check_dot_registers(by, inst, o.a.value);
    dot->a = run_.value(o.a.value);
  }
  dot->b_place = read(by, inst, o.b, "dot", event);
  bool accumulates = o.accumulate == ValueId::none || run_.scalar(o.accumulate) != 0;
  if (o.accumulator != ValueId::none && accumulates) {
    dot->onto = run_.at(o.accumulator).pending;
    if (dot->onto == nullptr) {
      check_dot_registers(by, inst, o.accumulator);
      dot->start = run_.arranged(run_.type(inst.result()).axes, run_.tile(o.accumulator));
    }
  }
  if (!lazy_) compute(*dot);
  run_.at(inst.result()).pending = dot;
  by.dots.issue(std::move(dot));
}

void Machine::execute(Instance& by, const Inst& inst, const FenceDots&) {
  by.dots_fence = &inst;
  by.dots_fence_step = by.steps;
}

void Machine::execute(Instance& by, const Inst& inst, const CommitDots&) {
  by.dots.commit();
  by.dots_fence = nullptr;
  by.dots_commit = &inst;
}

void Machine::execute(Instance& by, const Inst& inst, const WaitDots& o) {
  by.dots.wait(o.pending, [&](const std::shared_ptr<IssuedDot>& dot) {
    if (lazy_) compute(*dot);
  });
  by.own.learn(Event{Agent::dots, by.number, by.dots.finished()});
  for (std::size_t i = 0; i < o.values.size(); ++i) {
    const Value& value = run_.at(o.values[i]);
    if (value.pending != nullptr && issued_dots_checked_ && value.pending->group > by.dots.finished())
      fail(run_.program,
           fmt::format("{} is waited for, but its group is not among those that the wait covers",
                       name_of(run_.program, o.values[i])),
           {{"here", &inst, &by}, {"dot", value.pending->inst, &by}});
    Elements elements = value.pending != nullptr ? value.pending->result : value.elements;
    run_.value(inst.results[i]) = std::move(elements);
  }
}

void Machine::check_dot_registers(const Instance& by, const Inst& inst, ValueId operand) {
  const Value& value = run_.at(operand);
  if (!issued_dots_checked_ || value.written <= by.dots_fence_step) return;
  fail(run_.program,
       fmt::format("a dot reads {}, but no fence_dots follows what writes its registers",
                   name_of(run_.program, operand)),
       {{"here", &inst, &by}, {"fence", by.dots_fence, &by}, {"write", value.writer, &by}});
}

void Machine::check_operands(const Instance& by, const Inst& inst) {
  if (!issued_dots_checked_ || std::holds_alternative<IssueDot>(inst.op) ||
      std::holds_alternative<WaitDots>(inst.op))
    return;
  for_each_operand(inst.op, [&](ValueId id) {
    const Value& value = run_.at(id);
    if (value.pending == nullptr) return;
    fail(run_.program,
         fmt::format("{} is read, but no wait covers the dot that gives it", name_of(run_.program, id)),
         {{"here", &inst, &by}, {"dot", value.pending->inst, &by}});
  });
}

void Machine::check_registers(const Instance& by, const Inst& inst, ValueId written) const {
  if (!issued_dots_checked_) return;
  const auto* dot = by.dots.unfinished([&](const std::shared_ptr<IssuedDot>& issued) {
    return std::get<IssueDot>(issued->inst->op).a.value == written;
  });
  if (dot == nullptr) return;
  fail(run_.program,
       fmt::format("the registers of {} are written, but no wait covers the dot that reads them",
                   name_of(run_.program, written)),
       {{"here", &inst, &by}, {"dot", (*dot)->inst, &by}});
}

}  // namespace tessera::interpreter
