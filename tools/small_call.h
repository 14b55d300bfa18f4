#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tile_core/interpreter/buffer.h"
#include "tile_core/ir/program.h"

namespace tessera::tools {

/// Sizes of dims by name.
using Sizes = std::map<std::string, std::int64_t, std::less<>>;

/// The sizes of a small problem of a program at Stage::ready, none above the call's: where blocks are
/// persistent 2 tiles of 3 steps each; else one tile of 2 steps more than its rings have slots.
Sizes small_sizes(const Program& program, const Sizes& call);

/// Tensors of these sizes, all zeros, in the order of their declaration.
std::vector<Buffer> zeros(const Program& program, const Sizes& sizes);

}  // namespace tessera::tools
