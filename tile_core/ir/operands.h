#pragma once
#include "tile_core/ir/op.h"

namespace tessera {

namespace detail {
inline constexpr auto kIgnore = [](auto&) {};

template <typename Subscripts, typename Visit>
void visit_subscripts(Subscripts& subscripts, Visit& visit) {
  for (auto& s : subscripts) {
    if (s.value != ValueId::none) visit(s.value);
  }
}

template <typename SlotRef, typename Visit>
void visit_slot(SlotRef& slot, Visit& visit) {
  visit(slot.channel);
  if (slot.ticket != ValueId::none) visit(slot.ticket);
  if (slot.part.of != AxisId::none) visit(slot.part.index);
}

template <typename OperandRef, typename Visit>
void visit_dot_operand(OperandRef& operand, Visit& visit) {
  operand.value != ValueId::none ? visit(operand.value) : visit_slot(operand.slot, visit);
}
}  // namespace detail

/// Calls `visit(Block&)` (or const) on every block of an operation in order.
template <typename OpRef, typename Visit>
void for_each_block(OpRef& op, Visit&& visit) {
  if (auto* loop = std::get_if<Loop>(&op)) {
    visit(loop->body);
  } else if (auto* branch = std::get_if<If>(&op)) {
    visit(branch->then), visit(branch->otherwise);
  } else if (auto* roles = std::get_if<Roles>(&op)) {
    for (auto& role : roles->roles) visit(role.body);
  }
}

/// Calls `visit(ValueId&)` (or const) on every operand of an operation in order; of one with blocks, those
/// that it is entered with.
template <typename OpRef, typename Visit>
void for_each_operand(OpRef& op, Visit&& visit) {
  auto optional = [&](auto& id) {
    if (id != ValueId::none) visit(id);
  };
  std::visit(
      [&](auto& o) {
        using O = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<O, Index> || std::is_same_v<O, End>) {
          optional(o.start);
        } else if constexpr (std::is_same_v<O, If>) {
          visit(o.condition);
        } else if constexpr (std::is_same_v<O, Channel>) {
          optional(o.with);
        } else if constexpr (std::is_same_v<O, PassSlot> || std::is_same_v<O, View>) {
          detail::visit_slot(o.slot, visit);
        } else if constexpr (std::is_same_v<O, CopyOut>) {
          detail::visit_slot(o.from, visit), detail::visit_subscripts(o.subscripts, visit);
        } else if constexpr (std::is_same_v<O, IssueDot>) {
          detail::visit_dot_operand(o.a, visit), detail::visit_slot(o.b, visit);
          optional(o.accumulator), optional(o.accumulate);
        } else if constexpr (std::is_same_v<O, WaitDots>) {
          for (auto& id : o.values) visit(id);
        } else if constexpr (requires { o.condition; }) {
          visit(o.condition), visit(o.a), visit(o.b);
        } else if constexpr (std::is_same_v<O, Fma>) {
          visit(o.a), visit(o.b), visit(o.c);
        } else if constexpr (std::is_same_v<O, DotShared>) {
          detail::visit_dot_operand(o.a, visit), detail::visit_slot(o.b, visit), visit(o.accumulator);
        } else if constexpr (requires {
                               o.a;
                               o.b;
                             }) {
          visit(o.a), visit(o.b);
          if constexpr (requires { o.accumulator; }) optional(o.accumulator);
        } else if constexpr (requires { o.a; }) {
          visit(o.a);
        } else if constexpr (std::is_same_v<O, Load>) {
          detail::visit_subscripts(o.subscripts, visit);
        } else if constexpr (std::is_same_v<O, Store>) {
          detail::visit_subscripts(o.subscripts, visit), visit(o.value);
        } else if constexpr (std::is_same_v<O, Loop>) {
          visit(o.begin), visit(o.end), optional(o.step), optional(o.first_ticket);
          for (auto& id : o.carried) visit(id);
        } else if constexpr (std::is_same_v<O, CopyIn>) {
          detail::visit_subscripts(o.load.subscripts, visit), detail::visit_slot(o.to, visit);
        } else if constexpr (std::is_same_v<O, DrawTile>) {
          visit(o.tiles);
        } else if constexpr (std::is_same_v<O, WriteShared>) {
          detail::visit_slot(o.to, visit), visit(o.value);
        } else if constexpr (std::is_same_v<O, ReadShared>) {
          detail::visit_slot(o.from, visit);
        }
      },
      op);
}

/// Calls `visit(ValueId&)` (or const) on every value that an instruction defines: of a loop, also its start,
/// ticket and parameters; of roles, also their instances.
template <typename InstRef, typename Visit>
void for_each_definition(InstRef& inst, Visit&& visit) {
  if (auto* loop = std::get_if<Loop>(&inst.op)) {
    if (loop->start != ValueId::none) visit(loop->start);
    if (loop->ticket != ValueId::none) visit(loop->ticket);
    for (auto& id : loop->parameters) visit(id);
  } else if (auto* roles = std::get_if<Roles>(&inst.op)) {
    for (auto& role : roles->roles) {
      if (role.instance != ValueId::none) visit(role.instance);
    }
  }
  for (auto& id : inst.results) visit(id);
}

/// Calls `visit(Inst&)` (or const) on every instruction in order, one with blocks before them.
template <typename BlockRef, typename Visit>
void for_each_inst(BlockRef& block, Visit&& visit) {
  for (auto& inst : block.insts) {
    visit(inst);
    for_each_block(inst.op, [&](auto& inner) { for_each_inst(inner, visit); });
  }
}

/// Whether `is(const Inst&)` holds for an instruction of a block, or of one inside of it.
template <typename Is>
bool any_inst(const Block& block, Is&& is) {
  bool found = false;
  for_each_inst(block, [&](const Inst& inst) { found = found || is(inst); });
  return found;
}

/// Whether a block, or one inside of it, has one of these operations.
template <typename... Ops>
bool holds(const Block& block) {
  return any_inst(block, [](const Inst& inst) { return holds_any<Ops...>(inst.op); });
}

}  // namespace tessera
