#pragma once
#include <optional>

#include "tile_core/ir/uses.h"

namespace tessera {

/// Of a tile that a loop's body reads: the one subscript that moves with the loop, by its step in each
/// iteration.
struct Stepping {
  std::size_t subscript = 0;
  std::int64_t ahead = 0;  ///< elements of the tensor's dim from where the iteration starts
};

/// nullopt: the tile stays, or moves in another way. `loop` is a Loop that knows where it starts.
std::optional<Stepping> stepping_in(const Inst& loop, const Load& load, const Uses& uses);

}  // namespace tessera
