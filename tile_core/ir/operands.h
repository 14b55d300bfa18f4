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

}  // namespace tessera
