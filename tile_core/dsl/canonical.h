#pragma once
#include <utility>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera::dsl {

/// Replaces uses of the first of each pair by the second, in the block and the loops inside it.
void substitute(Block& block, const std::vector<std::pair<ValueId, ValueId>>& pairs);

/// The program with its pure operations ordered by the statement that first needs them, then by operand
/// order, unused ones gone and values numbered in order. C++ leaves the evaluation order of arguments open;
/// after this the text and the cache key do not depend on the host compiler.
Program canonical(const Program& program);

}  // namespace tessera::dsl
