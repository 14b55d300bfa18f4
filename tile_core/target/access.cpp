#include "tile_core/target/access.h"

#include <algorithm>
#include <numeric>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

constexpr int kLargestDivisor = 1 << 20;  // no tile is longer

/// The instruction that defines a value, or steps through an axis.
template <typename Wanted>
const Inst* find(const Program& program, const Wanted& wanted) {
  const Inst* found = nullptr;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (found == nullptr && wanted(inst)) found = &inst;
  });
  return found;
}

StartFacts facts_of(const Program& program, ValueId id);

StartFacts facts_of(const Program& program, const Binary& o) {
  StartFacts a = facts_of(program, o.a);
  StartFacts b = facts_of(program, o.b);
  switch (o.fn) {
    case BinaryFn::add:
    case BinaryFn::min:
      return {std::gcd(a.divisor, b.divisor), a.negative || b.negative};
    case BinaryFn::max:
      return {std::gcd(a.divisor, b.divisor), a.negative && b.negative};
    case BinaryFn::sub:
      return {std::gcd(a.divisor, b.divisor), true};
    case BinaryFn::mul:
      return {a.divisor < kLargestDivisor / b.divisor ? a.divisor * b.divisor : kLargestDivisor,
              a.negative || b.negative};
    case BinaryFn::div:
      return {1, a.negative || b.negative};
    case BinaryFn::mod:
      return {1, b.negative};
    default:
      return {};
  }
}

StartFacts facts_of(const Program& program, ValueId id) {
  if (!is_integer(program.type(id).dtype)) return {};  // a float has been rounded
  const Inst* inst = find(program, [&](const Inst& i) {
    const Loop* loop = std::get_if<Loop>(&i.op);
    return loop == nullptr ? !i.results.empty() && i.result() == id : loop->start == id;
  });
  if (inst == nullptr) return {};
  if (const Loop* loop = std::get_if<Loop>(&inst->op)) {
    if (loop->axis != AxisId::none) return start_facts(program, loop->axis);
    return {1, facts_of(program, loop->begin).negative};  // the number of a tile
  }
  if (const Binary* binary = std::get_if<Binary>(&inst->op)) return facts_of(program, *binary);
  if (const Cast* cast = std::get_if<Cast>(&inst->op)) return facts_of(program, cast->a);
  if (const Constant* constant = std::get_if<Constant>(&inst->op))
    return {static_cast<int>(std::gcd(static_cast<std::int64_t>(constant->value), kLargestDivisor)),
            constant->value < 0};
  bool count = holds_any<Size, BlockIndex, ClusterIndex, ClusterRank>(inst->op);
  return {1, !count};
}

}  // namespace

StartFacts start_facts(const Program& program, AxisId axis) {
  int extent = std::gcd(program.axis(axis).extent, kLargestDivisor);
  if (program.axis(axis).kind != AxisKind::loop) return {extent, false};
  const Inst* inst = find(program, [&](const Inst& i) {
    const Loop* loop = std::get_if<Loop>(&i.op);
    return loop != nullptr && loop->axis == axis;
  });
  if (inst == nullptr) return {};
  StartFacts begin = facts_of(program, std::get<Loop>(inst->op).begin);
  return {std::gcd(begin.divisor, extent), begin.negative};
}

Access widest_access(const Program& program, const Facts& call, const Schedule& schedule, TensorId tensor,
                     const std::vector<Subscript>& subscripts) {
  constexpr int kMaxBytes = 16;
  if (index_of(tensor) >= call.tensors.size()) {
    throw InternalError::format("the facts of a call of '{}' lack tensor '{}'", program.name,
                                program.tensor(tensor).name);
  }
  const TensorFacts& facts = call.tensors[index_of(tensor)];
  if (facts.contiguous_dim < 0) return {};
  AxisId axis = subscripts.at(static_cast<std::size_t>(facts.contiguous_dim)).axis;
  if (axis == AxisId::none) return {};
  int limit = schedule.vector == Schedule::kAutomatic ? kMaxBytes : schedule.vector;
  int elements = std::max(1, std::min(limit, facts.alignment) / size_of(facts.dtype));
  return {axis, std::gcd(elements, start_facts(program, axis).divisor)};
}

}  // namespace tessera
