#include "tile_core/dsl/loop_bounds.h"

#include "tile_core/ir/operands.h"

namespace tessera::dsl {

LoopBounds::LoopBounds(Tracer& tracer, const Loop& loop, Loc loc)
    : tracer_(tracer), axis_(loop.axis), loc_(loc) {
  auto define = [&](const Inst& inst) {
    if (is_pure(inst.op)) definers_[inst.result()] = inst.op;
  };
  for (const Block* block : tracer.open_blocks()) for_each_inst(*block, define);
  inside_.insert(loop.parameters.begin(), loop.parameters.end());
  for_each_inst(loop.body, [&](const Inst& inst) {
    define(inst);
    for_each_definition(inst, [&](ValueId id) { inside_.insert(id); });
  });
}

template <typename Kind>
const Kind* LoopBounds::definer(ValueId id) const {
  auto found = definers_.find(id);
  return found == definers_.end() ? nullptr : std::get_if<Kind>(&found->second);
}

void LoopBounds::narrow(Loop& loop, ValueId condition) {
  const Interval known = interval(condition);
  auto index = [&](ValueId id) { return type(id).dtype == i64 ? id : emit(Cast{id}, kIndex, loc_); };
  if (known.begin) loop.begin = arithmetic(BinaryFn::max, index(loop.begin), *known.begin);
  if (known.end) loop.end = arithmetic(BinaryFn::min, index(loop.end), *known.end);
}

LoopBounds::Interval LoopBounds::interval(ValueId condition) {
  if (const Broadcast* broadcast = definer<Broadcast>(condition)) return interval(broadcast->a);
  const Binary* found = definer<Binary>(condition);
  if (found == nullptr) return {};
  const Binary o = *found;
  bool both = o.fn == BinaryFn::logical_and, either = o.fn == BinaryFn::logical_or;
  Interval a, b;
  if (both || either) {
    a = interval(o.a), b = interval(o.b);
  } else if (type(o.a).dtype == i64 && (o.fn == BinaryFn::lt || o.fn == BinaryFn::le)) {
    return compared(o.a, o.b, o.fn == BinaryFn::lt ? 1 : 0);
  } else if (type(o.a).dtype == i64 && o.fn == BinaryFn::eq) {
    a = compared(o.a, o.b, 0), b = compared(o.b, o.a, 0);
    both = true;
  }
  auto joined = [&](std::optional<ValueId> x, std::optional<ValueId> y, BinaryFn fn) {
    if (x && y) return std::optional(arithmetic(fn, *x, *y));
    return both ? (x ? x : y) : std::nullopt;
  };
  return {joined(a.begin, b.begin, both ? BinaryFn::max : BinaryFn::min),
          joined(a.end, b.end, both ? BinaryFn::min : BinaryFn::max)};
}

/// lower + distance <= upper, in some lane.
LoopBounds::Interval LoopBounds::compared(ValueId lower, ValueId upper, int distance) {
  if (moves(lower) == moves(upper)) return {};
  bool from_above = moves(lower);
  std::optional<ValueId> limit = extreme(from_above ? upper : lower, from_above);
  if (!limit) return {};
  if (distance != 0)
    limit = arithmetic(from_above ? BinaryFn::sub : BinaryFn::add, *limit, constant(distance));
  return bounded(from_above ? lower : upper, from_above, *limit);
}

/// sum <= limit or, from below, sum >= limit.
LoopBounds::Interval LoopBounds::bounded(ValueId sum, bool from_above, ValueId limit) {
  if (definer<Index>(sum) != nullptr) {
    if (!from_above) return {.begin = limit, .end = {}};
    return {.begin = {}, .end = arithmetic(BinaryFn::add, limit, constant(1))};
  }
  if (const Broadcast* broadcast = definer<Broadcast>(sum)) return bounded(broadcast->a, from_above, limit);
  if (const Unary* unary = definer<Unary>(sum); unary != nullptr && unary->fn == UnaryFn::neg)
    return bounded(unary->a, !from_above, arithmetic(BinaryFn::sub, constant(0), limit));
  const Binary* binary = definer<Binary>(sum);
  return binary == nullptr ? Interval() : bounded(Binary(*binary), from_above, limit);
}

LoopBounds::Interval LoopBounds::bounded(const Binary& sum, bool from_above, ValueId limit) {
  bool adds = sum.fn == BinaryFn::add;
  if ((!adds && sum.fn != BinaryFn::sub) || moves(sum.a) == moves(sum.b)) return {};
  bool negated = !adds && moves(sum.b);  // other - moving
  ValueId other = moves(sum.a) ? sum.b : sum.a;
  std::optional<ValueId> term = extreme(other, adds || negated ? !from_above : from_above);
  if (!term) return {};
  if (negated) return bounded(sum.b, !from_above, arithmetic(BinaryFn::sub, *term, limit));
  ValueId rest = arithmetic(adds ? BinaryFn::sub : BinaryFn::add, limit, *term);
  return bounded(moves(sum.a) ? sum.a : sum.b, from_above, rest);
}

/// The highest or the lowest element of an integer tile that does not move, as a scalar.
std::optional<ValueId> LoopBounds::extreme(ValueId tile, bool highest) {
  if (type(tile).axes.empty()) return before_the_loop(tile);
  if (const Index* index = definer<Index>(tile)) {
    if (!tracer_.in_scope(index->axis)) return std::nullopt;
    return extreme(Index(*index), highest);
  }
  if (const Broadcast* broadcast = definer<Broadcast>(tile)) return extreme(broadcast->a, highest);
  const Binary* binary = definer<Binary>(tile);
  return binary == nullptr ? std::nullopt : extreme(Binary(*binary), highest);
}

std::optional<ValueId> LoopBounds::extreme(const Binary& op, bool highest) {
  bool subtracts = op.fn == BinaryFn::sub;
  if (!subtracts && op.fn != BinaryFn::add && op.fn != BinaryFn::min && op.fn != BinaryFn::max)
    return std::nullopt;
  std::optional<ValueId> a = extreme(op.a, highest), b = extreme(op.b, subtracts ? !highest : highest);
  if (!a || !b) return std::nullopt;
  return arithmetic(op.fn, *a, *b);
}

/// Of the lanes that are inside the dim.
ValueId LoopBounds::extreme(const Index& index, bool highest) {
  const AxisInfo info = tracer_.program.axis(index.axis);
  ValueId start = emit(Start{index.axis}, kIndex, loc_);
  if (!highest) return start;
  ValueId end = arithmetic(BinaryFn::add, start, constant(info.extent));
  end = arithmetic(BinaryFn::min, end, emit(Size{info.dim}, kIndex, loc_));
  return arithmetic(BinaryFn::sub, end, constant(1));
}

/// The same value, made from what stands before the loop.
std::optional<ValueId> LoopBounds::before_the_loop(ValueId scalar) {
  if (!inside_.contains(scalar)) return scalar;
  auto found = definers_.find(scalar);
  if (found == definers_.end()) return std::nullopt;
  Op op = found->second;
  if (!holds_any<Constant, Scalar, Size, Start, Unary, Binary, Select, Cast, Load>(op)) return std::nullopt;
  bool known = true;
  if (const Start* start = std::get_if<Start>(&op)) known = tracer_.in_scope(start->axis);
  for_each_operand(op, [&](ValueId& operand) {
    std::optional<ValueId> before = before_the_loop(operand);
    known = known && before;
    operand = before.value_or(operand);
  });
  if (!known) return std::nullopt;
  return emit(std::move(op), Type(type(scalar)), loc_);
}

}  // namespace tessera::dsl
