#pragma once
#include <string>

#include "tile_core/ir/program.h"
#include "tile_core/target/target.h"

namespace tessera::tools {

/// Of a program at Stage::ready: where each channel and its barriers lie in shared memory, and for every tile
/// in registers how many a thread holds and how its elements are spread, role by role.
std::string memory_map(const Program& program, const Target& target);

}  // namespace tessera::tools
