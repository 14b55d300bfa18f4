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
      blocks(inst);
      for (ValueId id : inst.results) define(inst, id);
    }
  }

 private:
  /// The last three: defined in a block that has been left.
  enum class State : std::uint8_t { undefined, visible, in_loop, in_branch, in_role };

  void blocks(const Inst& inst) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      over_axis(inst, *loop, [&] {
        scope(inst, loop->body, State::in_loop, [&] {
          for (ValueId id : {loop->start, loop->ticket}) define_optional(inst, id);
          for (ValueId id : loop->parameters) define(inst, id);
        });
      });
    } else if (const If* branch = std::get_if<If>(&inst.op)) {
      for (const Block* b : {&branch->then, &branch->otherwise}) scope(inst, *b, State::in_branch, [] {});
    } else if (const Roles* roles = std::get_if<Roles>(&inst.op)) {
      for (const Role& role : roles->roles)
        scope(inst, role.body, State::in_role, [&] { define_optional(inst, role.instance); });
    }
  }

  template <typename Body>
  void over_axis(const Inst& inst, const Loop& loop, Body body) {
    if (loop.axis == AxisId::none) return body();
    if (open_[index_of(loop.axis)]) {
      fail_verify(p_, inst,
                  fmt::format("a loop over axis '{}' inside a loop over it", p_.axis(loop.axis).name));
    }
    open_[index_of(loop.axis)] = true;
    body();
    open_[index_of(loop.axis)] = false;
  }

  template <typename Enter>
  void scope(const Inst& inst, const Block& body, State left, Enter enter) {
    std::vector<ValueId> outer = std::exchange(scope_, {});
    enter();
    block(body);
    for (ValueId id : body.yields) use(inst, id);
    for (ValueId id : scope_) states_[index_of(id)] = left;
    scope_ = std::move(outer);
  }

  void define_optional(const Inst& inst, ValueId id) {
    if (id != ValueId::none) define(inst, id);
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
    State state = states_[index_of(id)];
    if (state == State::visible) return;
    std::string name = name_of(p_, id);
    if (state == State::undefined) fail_verify(p_, inst, name + " is used before it is defined");
    const char* scope = state == State::in_loop ? "loop" : state == State::in_branch ? "branch" : "role";
    fail_verify(p_, inst, fmt::format("{} is used outside the {} that defines it", name, scope));
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
    if (const auto* o = std::get_if<End>(&inst.op)) check(o->start == ValueId::none ? o->axis : AxisId::none);
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
