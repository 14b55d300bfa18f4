#pragma once
#include "tile_core/target/schedule.h"

namespace tessera {

/// The rules that the fields break by themselves, for every program and target; empty: none.
std::vector<BrokenRule> broken_fields(const Schedule& schedule);

}  // namespace tessera
