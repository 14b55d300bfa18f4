#include "tile_core/ir/stepping.h"

namespace tessera {
namespace {

std::optional<std::int64_t> constant(ValueId id, const Uses& uses) {
  const auto* value = std::get_if<Constant>(&uses.definer(id).op);
  if (value == nullptr) return std::nullopt;
  return static_cast<std::int64_t>(value->value);
}

/// How far a value is from where an iteration starts, if always as far.
std::optional<std::int64_t> beyond_start(const Loop& loop, ValueId id, const Uses& uses) {
  if (id == loop.start) return 0;
  const auto* sum = std::get_if<Binary>(&uses.definer(id).op);
  if (sum == nullptr || sum->fn != BinaryFn::add) return std::nullopt;
  if (sum->a == loop.start) return constant(sum->b, uses);
  return sum->b == loop.start ? constant(sum->a, uses) : std::nullopt;
}

/// Whether a value of the loop's body or from before is the same in all iterations.
bool stays(const Inst& loop, ValueId id, const Uses& uses) {
  return uses.loop_of(id) != &loop || constant(id, uses);
}

}  // namespace

std::optional<Stepping> stepping_in(const Inst& inst, const Load& load, const Uses& uses) {
  const auto& loop = std::get<Loop>(inst.op);
  if (loop.draws_its_starts()) return std::nullopt;
  std::optional<Stepping> found;
  for (std::size_t i = 0; i < load.subscripts.size(); ++i) {
    const ValueId value = load.subscripts[i].value;
    if (stays(inst, value, uses)) continue;
    const std::optional<std::int64_t> ahead = beyond_start(loop, value, uses);
    if (!ahead || found) return std::nullopt;
    found = Stepping{.subscript = i, .ahead = *ahead};
  }
  return found;
}

}  // namespace tessera
