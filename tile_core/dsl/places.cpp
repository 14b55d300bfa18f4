#include "tile_core/dsl/places.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tile_core/ir/operands.h"

namespace tessera::dsl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Places::Places(const Program& program, const Origins& origins)
    : p_(program), origins_(origins), uses_(program) {
  for_each_inst(program.body, [&](const Inst& inst) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) loops_[loop->axis] = loop;
  });
}

/// A subscript tells one axis apart where it depends on no other, but on those that are told apart already.
AxisSet Places::told_apart(const std::vector<Subscript>& subscripts) const {
  const std::vector<Subscript> clues = with_quotients(subscripts);
  AxisSet told;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Subscript& clue : clues) {
      AxisSet open = origins_.of(clue);
      std::erase_if(open, [&](AxisId axis) { return told.contains(axis); });
      const bool loops = clue.axis != AxisId::none && open.erase(clue.axis) > 0;
      if (open.empty() && loops) {
        grows = told.insert(clue.axis).second;
      } else if (open.size() == 1 && tells_apart(clue, *open.begin())) {
        grows = told.insert(*open.begin()).second;
      }
      if (grows) break;
    }
  }
  return told;
}

/// A quotient and a remainder of one division are as good as what is divided.
std::vector<Subscript> Places::with_quotients(std::vector<Subscript> subscripts) const {
  auto division = [&](const Subscript& s, BinaryFn fn) {
    const Binary* op = s.axis == AxisId::none ? std::get_if<Binary>(&uses_.definer(s.value).op) : nullptr;
    return op != nullptr && op->fn == fn ? op : nullptr;
  };
  const std::size_t count = subscripts.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Binary* quotient = division(subscripts[i], BinaryFn::div);
    for (std::size_t j = 0; j < count && quotient != nullptr; ++j) {
      const Binary* rest = division(subscripts[j], BinaryFn::mod);
      if (rest != nullptr && same(quotient->a, rest->a) && same(quotient->b, rest->b))
        subscripts.push_back({.value = quotient->a});
    }
  }
  return subscripts;
}

bool Places::tells_apart(const Subscript& s, AxisId axis) const {
  if (s.axis == AxisId::none) {
    const Growth g = growth(s.value, axis);
    return g.least >= 1 || g.most <= -1;
  }
  const Loop& loop = *loops_.at(s.axis);
  const std::optional<double> length = most_above(loop.end, loop.begin);
  const double tile = p_.axis(s.axis).extent;
  return length && growth(loop.begin, axis).least >= std::ceil(*length / tile) * tile;
}

/// By how much a scalar is above another at the most; none where nobody knows.
std::optional<double> Places::most_above(ValueId id, ValueId base) const {
  if (same(id, base)) return 0;
  const End* end = std::get_if<End>(&uses_.definer(id).op);
  const Start* start = std::get_if<Start>(&uses_.definer(base).op);
  if (end != nullptr && start != nullptr && end->axis == start->axis) return p_.axis(end->axis).extent;
  const Binary* op = std::get_if<Binary>(&uses_.definer(id).op);
  if (op == nullptr) return std::nullopt;
  const std::optional<double> a = most_above(op->a, base), b = most_above(op->b, base);
  if (op->fn == BinaryFn::min) return a && b ? std::min(*a, *b) : a ? a : b;
  if (op->fn == BinaryFn::max) return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  const std::optional<double> first = number(op->a), second = number(op->b);
  if (op->fn == BinaryFn::add && a && second) return *a + *second;
  if (op->fn == BinaryFn::add && b && first) return *b + *first;
  if (op->fn == BinaryFn::sub && a && second) return *a - *second;
  return std::nullopt;
}

Places::Growth Places::growth(ValueId id, AxisId axis) const {
  if (!origins_.of_value(id).contains(axis)) return {};
  const Op& op = uses_.definer(id).op;
  if (const Start* start = std::get_if<Start>(&op)) return growth_of(start->axis, axis);
  if (const End* end = std::get_if<End>(&op)) return growth_of(end->axis, axis);
  if (const Cast* cast = std::get_if<Cast>(&op); cast != nullptr && is_integer(p_.type(cast->a).dtype))
    return growth(cast->a, axis);
  if (const Unary* unary = std::get_if<Unary>(&op); unary != nullptr && unary->fn == UnaryFn::neg) {
    const Growth g = growth(unary->a, axis);
    return {-g.most, -g.least};
  }
  const Binary* binary = std::get_if<Binary>(&op);
  return binary == nullptr ? Growth{-kInfinity, kInfinity} : growth_of(*binary, axis);
}

/// Of where another axis starts, and ends.
Places::Growth Places::growth_of(AxisId other, AxisId axis) const {
  const double tile = p_.axis(axis).extent;
  return other == axis ? Growth{tile, tile} : growth(loops_.at(other)->begin, axis);
}

Places::Growth Places::growth_of(const Binary& op, AxisId axis) const {
  const Growth a = growth(op.a, axis), b = growth(op.b, axis);
  auto times = [](Growth g, double n) {
    return n < 0 ? Growth{g.most * n, g.least * n} : n > 0 ? Growth{g.least * n, g.most * n} : Growth{};
  };
  if (op.fn == BinaryFn::add) return {a.least + b.least, a.most + b.most};
  if (op.fn == BinaryFn::sub) return {a.least - b.most, a.most - b.least};
  const std::optional<double> first = number(op.a), second = number(op.b);
  if (op.fn == BinaryFn::mul && first) return times(b, *first);
  if (op.fn == BinaryFn::mul && second) return times(a, *second);
  if (op.fn == BinaryFn::div && second && *second > 0)
    return {std::floor(a.least / *second), std::ceil(a.most / *second)};
  return {-kInfinity, kInfinity};
}

std::optional<double> Places::number(ValueId id) const {
  const Constant* constant = std::get_if<Constant>(&uses_.definer(id).op);
  return constant == nullptr ? std::nullopt : std::optional(constant->value);
}

/// Whether two scalars are one, as far as the operations that make them tell.
bool Places::same(ValueId a, ValueId b) const {
  if (a == b) return true;
  if (a == ValueId::none || b == ValueId::none) return false;
  const Op& op = uses_.definer(a).op;
  Op other = uses_.definer(b).op;
  if (!is_pure(op) || op.index() != other.index()) return false;
  std::vector<ValueId> operands;
  for_each_operand(op, [&](ValueId id) { operands.push_back(id); });
  std::size_t i = 0;
  for_each_operand(other, [&](ValueId& id) {
    if (i < operands.size() && same(operands[i], id)) id = operands[i];
    ++i;
  });
  return op == other;
}

bool Places::never_meet(const std::vector<Subscript>& first, const std::vector<Subscript>& second) const {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (apart(first[i], second[i])) return true;
  }
  return false;
}

bool Places::apart(const Subscript& a, const Subscript& b) const {
  const std::optional<Range> one = range(a), other = range(b);
  if (one && other && (one->last <= other->first || other->last <= one->first)) return true;
  if (a.axis == AxisId::none && b.axis == AxisId::none) return differ(a.value, b.value);
  return follows(b, a) || follows(a, b);
}

/// Where numbers alone say it.
std::optional<Places::Range> Places::range(const Subscript& s) const {
  if (s.axis == AxisId::none) {
    const std::optional<double> at = number(s.value);
    return at ? std::optional(Range{*at, *at + 1}) : std::nullopt;
  }
  const double tile = p_.axis(s.axis).extent;
  const AxisKind kind = p_.axis(s.axis).kind;
  if (kind == AxisKind::all) return Range{0, tile};
  if (kind != AxisKind::loop) return Range{0, kInfinity};
  const Loop& loop = *loops_.at(s.axis);
  const std::optional<double> begin = number(loop.begin), end = number(loop.end);
  if (!begin) return std::nullopt;
  return Range{*begin, end ? *begin + std::ceil((*end - *begin) / tile) * tile : kInfinity};
}

/// Whether one loop begins where another, of whole tiles, ends; in every block at the same place.
bool Places::follows(const Subscript& second, const Subscript& first) const {
  const auto loop_of = [&](const Subscript& s) {
    const auto found = loops_.find(s.axis);
    return found == loops_.end() ? nullptr : found->second;
  };
  const Loop *before = loop_of(first), *after = loop_of(second);
  if (before == nullptr || after == nullptr || !same(before->end, after->begin)) return false;
  const int tile = p_.axis(first.axis).extent;
  return origins_.of_value(before->end).empty() && is_multiple(before->begin, tile) &&
         is_multiple(before->end, tile);
}

bool Places::is_multiple(ValueId id, int of) const {
  if (const std::optional<double> n = number(id)) return std::fmod(*n, of) == 0;
  const Binary* op = std::get_if<Binary>(&uses_.definer(id).op);
  if (op == nullptr) return false;
  const bool a = is_multiple(op->a, of), b = is_multiple(op->b, of);
  if (op->fn == BinaryFn::mul) return a || b;
  return (op->fn == BinaryFn::add || op->fn == BinaryFn::sub) && a && b;
}

Places::Sum Places::sum_of(ValueId id) const {
  if (const std::optional<double> n = number(id)) return {.number = *n};
  const Binary* op = std::get_if<Binary>(&uses_.definer(id).op);
  if (op == nullptr || (op->fn != BinaryFn::add && op->fn != BinaryFn::sub)) return {.base = id};
  const bool adds = op->fn == BinaryFn::add;
  Sum a = sum_of(op->a), b = sum_of(op->b);
  if (b.base == ValueId::none) return {a.base, a.number + (adds ? b.number : -b.number)};
  if (a.base == ValueId::none && adds) return {b.base, a.number + b.number};
  return {.base = id};
}

/// Two scalars that are a number apart and grow by steps which that number is no sum of: 2 h and 2 h + 1.
bool Places::differ(ValueId a, ValueId b) const {
  const Sum one = sum_of(a), other = sum_of(b);
  if (one.base != other.base && !same(one.base, other.base)) return false;
  std::int64_t steps = 0;
  if (one.base != ValueId::none) {
    for (const AxisId axis : origins_.of_value(one.base)) {
      const Growth g = growth(one.base, axis);
      if (g.least != g.most || std::isinf(g.most)) return false;
      steps = std::gcd(steps, static_cast<std::int64_t>(g.most));
    }
  }
  const auto distance = static_cast<std::int64_t>(one.number - other.number);
  return steps == 0 ? distance != 0 : distance % steps != 0;
}

}  // namespace tessera::dsl
