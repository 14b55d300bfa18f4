#include "tile_core/passes/work_of.h"

#include <algorithm>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/uses.h"

namespace tessera {
namespace {

using Direction = Trend::Direction;

Direction join(Direction a, Direction b) {
  if (a == Direction::constant || a == b) return b;
  return b == Direction::constant ? a : Direction::unknown;
}

/// Of what rises with both a and b.
Trend join(Trend a, const Trend& b) {
  a.direction = join(a.direction, b.direction);
  a.axes.insert(b.axes.begin(), b.axes.end());
  if (a.axes.size() > 1) a.direction = Direction::unknown;
  return a;
}

Trend reversed(Trend t) {
  if (t.direction == Direction::up) {
    t.direction = Direction::down;
  } else if (t.direction == Direction::down) {
    t.direction = Direction::up;
  }
  return t;
}

/// Of what depends on it somehow.
Trend blurred(Trend t) {
  if (t.direction != Direction::constant) t.direction = Direction::unknown;
  return t;
}

}  // namespace

Trends::Trends(const Program& program) : p_(program) {
  for_each_inst(p_.body, [&](const Inst& i) { inst(i); });
}

Trend Trends::of(AxisId axis) const {
  AxisKind kind = p_.axis(axis).kind;
  if (kind == AxisKind::all) return {};
  return {kind == AxisKind::grid ? Direction::up : Direction::unknown, {axis}};
}

Trend Trends::of(const Loop& loop) const {
  return join(of(loop.end), reversed(of(loop.begin)));
}

void Trends::inst(const Inst& inst) {
  if (std::holds_alternative<Loop>(inst.op)) {
    // What a loop carries comes from all that its body reads: it may depend on any axis.
    const Trend any{Direction::unknown, {p_.grid.begin(), p_.grid.end()}};
    for_each_definition(inst, [&](ValueId id) { trends_[id] = any; });
    return;
  }
  if (inst.results.size() != 1) return;
  if (const Constant* constant = std::get_if<Constant>(&inst.op))
    signs_[inst.result()] = constant->value > 0 ? 1 : constant->value < 0 ? -1 : 0;
  if (std::holds_alternative<Size>(inst.op)) signs_[inst.result()] = 1;
  trends_[inst.result()] = result(inst.op);
}

Trend Trends::result(const Op& op) const {
  if (const Start* start = std::get_if<Start>(&op)) return of(start->axis);
  if (const End* end = std::get_if<End>(&op)) return of(end->axis);
  if (const Index* index = std::get_if<Index>(&op)) return of(index->axis);
  if (const Cast* cast = std::get_if<Cast>(&op))
    return p_.type(cast->a).dtype == boolean ? blurred(of(cast->a)) : of(cast->a);
  if (const Broadcast* broadcast = std::get_if<Broadcast>(&op)) return of(broadcast->a);
  if (const Reduce* reduce = std::get_if<Reduce>(&op); reduce != nullptr && reduce->fn != ReduceFn::sum)
    return of(reduce->a);
  if (const Unary* unary = std::get_if<Unary>(&op); unary != nullptr && unary->fn == UnaryFn::neg)
    return reversed(of(unary->a));
  if (const Binary* o = std::get_if<Binary>(&op)) return binary(*o);
  return any_of(op);
}

Trend Trends::binary(const Binary& o) const {
  auto scaled = [&](ValueId id, ValueId by) {
    auto sign = signs_.find(by);
    if (sign == signs_.end() || sign->second == 0) return blurred(of(id));
    return sign->second > 0 ? of(id) : reversed(of(id));
  };
  switch (o.fn) {
    case BinaryFn::add:
    case BinaryFn::min:
    case BinaryFn::max:
      return join(of(o.a), of(o.b));
    case BinaryFn::sub:
      return join(of(o.a), reversed(of(o.b)));
    case BinaryFn::mul:
      return signs_.contains(o.a) ? scaled(o.b, o.a) : join(scaled(o.a, o.b), blurred(of(o.b)));
    case BinaryFn::div:
      return join(scaled(o.a, o.b), blurred(of(o.b)));
    default:
      return any_of(o);
  }
}

Trend Trends::any_of(const Op& op) const {
  Trend trend;
  for_each_operand(op, [&](ValueId id) { trend = join(trend, of(id)); });
  if (const Load* load = std::get_if<Load>(&op)) {
    for (const Subscript& s : load->subscripts) {
      if (s.axis != AxisId::none) trend = join(trend, of(s.axis));
    }
  }
  return blurred(trend);
}

namespace {

/// What a subscript divides a position by: so many neighbours of the position have the same.
std::vector<Op> neighbours_of(const Load& load, const Uses& uses) {
  std::vector<Op> neighbours;
  for (const Subscript& s : load.subscripts) {
    if (s.value == ValueId::none) continue;
    const Binary* o = std::get_if<Binary>(&uses.definer(s.value).op);
    if (o == nullptr || o->fn != BinaryFn::div || !std::holds_alternative<Start>(uses.definer(o->a).op))
      continue;
    const Op& divisor = uses.definer(o->b).op;
    if (holds_any<Constant, Scalar, Size>(divisor)) neighbours.push_back(divisor);
  }
  return neighbours;
}

class SharedLoads {
 public:
  SharedLoads(const Program& program, const Trends& trends, AxisId axis)
      : trends_(trends), uses_(program), axis_(axis) {}

  void add(const Block& body) {
    for_each_inst(body, [&](const Inst& inst) {
      const Load* load = std::get_if<Load>(&inst.op);
      if (load == nullptr || trends_.of(inst.result()).axes.contains(axis_)) return;
      bool known = std::any_of(loads_.begin(), loads_.end(),
                               [&](const SharedLoad& other) { return other.load.tensor == load->tensor; });
      if (!known) loads_.push_back({*load, neighbours_of(*load, uses_)});
    });
  }
  std::vector<SharedLoad> take() { return std::move(loads_); }

 private:
  const Trends& trends_;
  Uses uses_;
  AxisId axis_;
  std::vector<SharedLoad> loads_;
};

}  // namespace

Work work_of(const Program& program) {
  const Trends trends(program);
  std::vector<const Loop*> unequal;
  Trend total;
  for_each_inst(program.body, [&](const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr || trends.of(*loop).direction == Direction::constant) return;
    unequal.push_back(loop);
    total = join(total, trends.of(*loop));
  });
  if (total.direction != Direction::up && total.direction != Direction::down) return {};
  const AxisId axis = *total.axes.begin();
  SharedLoads shared(program, trends, axis);
  for (const Loop* loop : unequal) shared.add(loop->body);
  return {.axis = axis, .grows = total.direction == Direction::up, .shared = shared.take()};
}

}  // namespace tessera
