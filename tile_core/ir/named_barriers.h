#pragma once
#include "tile_core/ir/op.h"

namespace tessera {

inline constexpr int kNamedBarriers = 16;  ///< of a block; the first is that of all its threads

/// The named barriers that a role takes, of which either kind follows the other.
struct RoleBarriers {
  int meet = 0;  ///< where the threads of an instance meet, at a barrier or a skip: one for each, or none
  int turn = 0;  ///< where an instance waits for its turn: the same
  int all() const { return meet + turn; }
};

/// What the operations of the role's body need. One instance alone has no turns.
RoleBarriers barriers_of(const Role& role);

}  // namespace tessera
