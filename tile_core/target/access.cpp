#include "tile_core/target/access.h"

#include <algorithm>
#include <numeric>

#include "tile_core/base/error.h"

namespace tessera {

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
  return {axis, std::gcd(elements, program.axis(axis).extent)};
}

}  // namespace tessera
