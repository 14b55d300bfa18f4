#pragma once
#include "tile_core/ir/op.h"

namespace tessera {

/// The dot of a loop whose products nothing else in the body waits for: the only one there, of the warps' own
/// tensor cores, with both operands in slots that earlier iterations filled, by the loop's ticket, and a
/// result that is but yielded. Its last products may be made after all else of an iteration. nullptr: the
/// loop has none.
const Inst* trailing_dot(const Loop& loop);

}  // namespace tessera
