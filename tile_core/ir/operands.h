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
}
}  // namespace detail

/// Calls `visit(ValueId&)` (or const) on every operand of an operation in order; of a loop, those that it is
/// entered with.
template <typename OpRef, typename Visit>
void for_each_operand(OpRef& op, Visit&& visit) {
  auto optional = [&](auto& id) {
    if (id != ValueId::none) visit(id);
  };
  std::visit(
      [&](auto& o) {
        using O = std::remove_cvref_t<decltype(o)>;
        if constexpr (std::is_same_v<O, Index>) {
          optional(o.start);
        } else if constexpr (requires { o.condition; }) {
          visit(o.condition), visit(o.a), visit(o.b);
        } else if constexpr (std::is_same_v<O, DotShared>) {
          detail::visit_slot(o.a, visit), detail::visit_slot(o.b, visit), visit(o.accumulator);
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
          visit(o.begin), visit(o.end);
          for (auto& id : o.carried) visit(id);
        } else if constexpr (std::is_same_v<O, CopyIn>) {
          detail::visit_subscripts(o.load.subscripts, visit), detail::visit_slot(o.to, visit);
        } else if constexpr (std::is_same_v<O, WriteShared>) {
          detail::visit_slot(o.to, visit), visit(o.value);
        } else if constexpr (std::is_same_v<O, ReadShared>) {
          detail::visit_slot(o.from, visit);
        }
      },
      op);
}

/// Calls `visit(ValueId&)` (or const) on every value that an instruction defines: of a loop, also its start,
/// ticket and parameters.
template <typename InstRef, typename Visit>
void for_each_definition(InstRef& inst, Visit&& visit) {
  if (auto* loop = std::get_if<Loop>(&inst.op)) {
    if (loop->start != ValueId::none) visit(loop->start);
    if (loop->ticket != ValueId::none) visit(loop->ticket);
    for (auto& id : loop->parameters) visit(id);
  }
  for (auto& id : inst.results) visit(id);
}

/// Calls `visit(Inst&)` (or const) on every instruction in order, a loop before its body.
template <typename BlockRef, typename Visit>
void for_each_inst(BlockRef& block, Visit&& visit) {
  for (auto& inst : block.insts) {
    visit(inst);
    if (auto* loop = std::get_if<Loop>(&inst.op)) for_each_inst(loop->body, visit);
  }
}

}  // namespace tessera
