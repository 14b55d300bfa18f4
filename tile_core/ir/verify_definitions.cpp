#include <algorithm>
#include <utility>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// Walks a program in order and knows which values and which loops' axes are in scope.
class Scopes {
 public:
  explicit Scopes(const Program& program)
      : p_(program), states_(program.types.size(), State::undefined), open_(program.axes.size(), false) {}

  void block(const Block& block) {
    for (const Inst& inst : block.insts) {
      for_each_operand(inst.op, [&](ValueId id) { use(inst, id); });
      loop_axis_in_scope(inst);
      const Loop* loop = std::get_if<Loop>(&inst.op);
      if (loop != nullptr) body(inst, *loop);
      for (ValueId id : inst.results) define(inst, id);
    }
  }

 private:
  enum class State : std::uint8_t { undefined, visible, left };

  void body(const Inst& inst, const Loop& loop) {
    if (open_[index_of(loop.axis)]) {
      fail_verify(p_, inst,
                  fmt::format("a loop over axis '{}' inside a loop over it", p_.axis(loop.axis).name));
    }
    open_[index_of(loop.axis)] = true;
    std::vector<ValueId> outer = std::exchange(scope_, {});
    if (loop.start != ValueId::none) define(inst, loop.start);
    if (loop.ticket != ValueId::none) define(inst, loop.ticket);
    for (ValueId id : loop.parameters) define(inst, id);
    block(loop.body);
    for (ValueId id : loop.body.yields) use(inst, id);
    for (ValueId id : scope_) states_[index_of(id)] = State::left;
    scope_ = std::move(outer);
    open_[index_of(loop.axis)] = false;
  }

  void define(const Inst& inst, ValueId id) {
    if (id == ValueId::none || index_of(id) >= states_.size()) fail_verify(p_, "a value has no type");
    State& state = states_[index_of(id)];
    if (state != State::undefined) fail_verify(p_, inst, name_of(p_, id) + " is defined twice");
    state = State::visible;
    scope_.push_back(id);
  }

  void use(const Inst& inst, ValueId id) {
    if (id == ValueId::none || index_of(id) >= states_.size()) fail_verify(p_, "an operand is no value");
    switch (states_[index_of(id)]) {
      case State::visible:
        return;
      case State::undefined:
        return fail_verify(p_, inst, name_of(p_, id) + " is used before it is defined");
      case State::left:
        return fail_verify(p_, inst, name_of(p_, id) + " is used outside the loop that defines it");
    }
  }

  /// While the starts of axes are implied, and while a reduction sees valid lanes only, an axis means
  /// something inside its loop alone.
  void loop_axis_in_scope(const Inst& inst) {
    if (p_.stage >= Stage::masked) return;
    auto check = [&](AxisId axis) {
      if (axis == AxisId::none || p_.axis(axis).kind != AxisKind::loop || open_[index_of(axis)]) return;
      fail_verify(p_, inst, fmt::format("axis '{}' stands outside its loop", p_.axis(axis).name));
    };
    auto subscripts = [&](const std::vector<Subscript>& list) {
      for (const Subscript& s : list) check(s.value == ValueId::none ? s.axis : AxisId::none);
    };
    if (const auto* o = std::get_if<Index>(&inst.op))
      check(o->start == ValueId::none ? o->axis : AxisId::none);
    if (const auto* o = std::get_if<Start>(&inst.op)) check(o->axis);
    if (const auto* o = std::get_if<Reduce>(&inst.op)) check(o->axis);
    if (const auto* o = std::get_if<Dot>(&inst.op)) check(o->axis);
    if (const auto* o = std::get_if<Load>(&inst.op)) subscripts(o->subscripts);
    if (const auto* o = std::get_if<Store>(&inst.op)) subscripts(o->subscripts);
  }

  const Program& p_;
  std::vector<State> states_;
  std::vector<bool> open_;      // by axis: inside its loop
  std::vector<ValueId> scope_;  // defined in the innermost block
};

}  // namespace

void verify_definitions(const Program& program) {
  Scopes(program).block(program.body);
}

}  // namespace tessera
