#pragma once
#include "tile_core/passes/passes.h"

namespace tessera {

/// lower_tiles for a program with roles. Dots are issued, and waited for where their result is first used;
/// one whose accumulator only dots touch stays in flight across the loop's back edge. A slot that dots read
/// goes back once they have finished. Stores of 16-bit tiles leave through shared memory, slice by slice.
Program lower_roles(const Program& in, const PassContext& context);

}  // namespace tessera
