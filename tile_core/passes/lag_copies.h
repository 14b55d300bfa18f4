#pragma once
#include <set>

#include "tile_core/ir/rewrite.h"

namespace tessera {

/// Whether a producer's loop copies for dots that trail, and for others: `trailing` are the channels that
/// trailing dots read.
bool copies_for_trailing(const Program& program, const Loop& loop, const std::set<ValueId>& trailing);

/// Writes such a loop with the copies of trailing channels one iteration late, as consumers take them: else a
/// copy that is due waits behind one whose slot nobody has released yet.
void rotate_copies(Rewriter& r, const Inst& inst, const std::set<ValueId>& trailing);

}  // namespace tessera
