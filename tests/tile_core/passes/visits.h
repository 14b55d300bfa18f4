#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera::test {

/// What the scalars of a mapped program are computed from, by name.
struct Sizes {
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, std::int64_t> scalars;
};

/// A tile as a block comes to it: its position along each grid axis, and the iterations of its loops.
struct Visit {
  std::vector<std::int64_t> tile;
  std::int64_t trips = 0;
};

/// Of every block of a persistent program at Stage::mapped, the tiles in order: scalars alone are computed.
/// At most as many blocks as tiles; whole clusters of them.
std::vector<std::vector<Visit>> visits(const Program& program, const Sizes& sizes, std::int64_t blocks);

}  // namespace tessera::test
