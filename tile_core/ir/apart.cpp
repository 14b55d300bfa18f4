#include "tile_core/ir/apart.h"

#include <cmath>

#include "tile_core/ir/op.h"

namespace tessera {

bool Apart::have(ValueId value) const {
  const MaybeTerm grown = growth(value);
  return grown && grown->factor != 0;
}

/// The starts of the first and of number i differ by i growths: never by whole steps.
bool Apart::iterate(const Loop& loop) const {
  if (loop.draws_its_starts()) return varying_(loop.parameters.front());  // each number is drawn once
  const MaybeTerm grown = growth(loop.begin);
  if (!grown || grown->factor == 0 || varying_(loop.step)) return false;
  const Term step =
      loop.step == ValueId::none ? Term{static_cast<double>(p_.axis(loop.axis).extent)} : term_of(loop.step);
  if (step.unit != grown->unit || step.factor == 0) return false;
  for (int i = 1; i < who_.count; ++i) {
    if (std::fmod(i * grown->factor, step.factor) == 0) return false;
  }
  return true;
}

bool Apart::go_alone(ValueId condition, bool taken) const {
  int going = 0;
  for (int i = 0; i < who_.count; ++i) {
    const std::optional<double> holds = of(i, condition);
    if (!holds) return false;
    if ((*holds != 0) == taken) ++going;
  }
  return going <= 1;
}

Apart::MaybeTerm Apart::growth(ValueId id) const {
  if (!varying_(id)) return Term{};
  if (id == who_.number) return Term{1};
  const Op& op = uses_.definer(id).op;
  if (holds_any<BlockIndex, ClusterRank>(op)) return Term{1};
  if (const Loop* loop = std::get_if<Loop>(&op)) {
    const bool steps = id == loop->start && !loop->draws_its_starts() && !varying_(loop->step);
    return steps ? growth(loop->begin) : std::nullopt;
  }
  if (const Cast* cast = std::get_if<Cast>(&op); cast != nullptr && is_integer(p_.type(cast->a).dtype))
    return growth(cast->a);
  const Binary* binary = std::get_if<Binary>(&op);
  return binary == nullptr ? std::nullopt : growth_of(*binary);
}

Apart::MaybeTerm Apart::growth_of(const Binary& op) const {
  if (op.fn == BinaryFn::mul) return varying_(op.a) ? times(op.a, op.b) : times(op.b, op.a);
  if (op.fn != BinaryFn::add && op.fn != BinaryFn::sub) return std::nullopt;
  const MaybeTerm a = growth(op.a), b = growth(op.b);
  if (!a || !b) return std::nullopt;
  const double sign = op.fn == BinaryFn::add ? 1 : -1;
  if (b->factor == 0) return a;
  if (a->factor == 0) return Term{sign * b->factor, b->unit};
  return a->unit == b->unit ? MaybeTerm(Term{a->factor + sign * b->factor, a->unit}) : std::nullopt;
}

Apart::MaybeTerm Apart::times(ValueId varies, ValueId same) const {
  const MaybeTerm grown = growth(varies);
  if (!grown || varying_(same)) return std::nullopt;
  const Term by = term_of(same);
  if (grown->unit != ValueId::none && by.unit != ValueId::none) return std::nullopt;
  return Term{grown->factor * by.factor, by.unit == ValueId::none ? grown->unit : by.unit};
}

Apart::Term Apart::term_of(ValueId id) const {
  const Op& op = uses_.definer(id).op;
  if (const Constant* constant = std::get_if<Constant>(&op)) return {constant->value};
  const Binary* product = std::get_if<Binary>(&op);
  if (product == nullptr || product->fn != BinaryFn::mul) return {1, id};
  const Term a = term_of(product->a), b = term_of(product->b);
  if (a.unit != ValueId::none && b.unit != ValueId::none) return {1, id};
  return {a.factor * b.factor, a.unit == ValueId::none ? b.unit : a.unit};
}

std::optional<double> Apart::of(int number, ValueId id) const {
  if (id == who_.number) return number;
  const Op& op = uses_.definer(id).op;
  if (who_.number == ValueId::none && std::holds_alternative<ClusterRank>(op)) return number;
  if (const Constant* constant = std::get_if<Constant>(&op)) return constant->value;
  const Binary* binary = std::get_if<Binary>(&op);
  if (binary == nullptr) return std::nullopt;
  const std::optional<double> a = of(number, binary->a), b = of(number, binary->b);
  if (!a || !b) return std::nullopt;
  switch (binary->fn) {
    case BinaryFn::lt:
      return *a < *b;
    case BinaryFn::le:
      return *a <= *b;
    case BinaryFn::eq:
      return *a == *b;
    case BinaryFn::ne:
      return *a != *b;
    default:
      return std::nullopt;
  }
}

}  // namespace tessera
