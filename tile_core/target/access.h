#pragma once
#include <vector>

#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera {

/// Elements of the widest legal access to a tensor, and the axis along which they stand: `none`, and 1, where
/// no subscript is along the tensor's contiguous dim.
struct Access {
  AxisId axis = AxisId::none;
  int vector = 1;
};
Access widest_access(const Program& program, const Facts& facts, const Schedule& schedule, TensorId tensor,
                     const std::vector<Subscript>& subscripts);

/// What is known of every first index of an axis' tiles, from how its loop begins.
struct StartFacts {
  int divisor = 1;       ///< a power of two that divides it
  bool negative = true;  ///< it may be below 0
};
StartFacts start_facts(const Program& program, AxisId axis);

}  // namespace tessera
