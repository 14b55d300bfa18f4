#pragma once
#include "tile_core/ir/program.h"

namespace tessera::dsl {

/// Throws UserError where two blocks may store different values to one place: where a grid axis decides what
/// is stored, and no subscript tells its tiles apart; where two stores to one output may meet; and where
/// tiles are stored and added to one output.
void check_stores(const Program& program);

}  // namespace tessera::dsl
