#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// Bytes from one slot to the next: the rows of the slower axes, `pitch` elements apart, rounded up to
/// kSlotAlignment.
inline constexpr int kSlotAlignment = 16;
std::int64_t slot_bytes(const Program& program, const Type& type, const Channel& channel);

}  // namespace tessera
