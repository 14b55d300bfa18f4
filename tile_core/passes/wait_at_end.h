#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// A loop with a trailing dot, whose copies are two iterations ahead or more, waits for the slots of its next
/// iteration at the end of each, and for those of the first before it: the last products of an iteration then
/// run under that wait. The order of everything stays; after the last
/// iteration, or where there is none, it waits once more.
Program with_waits_at_end(Program program);

}  // namespace tessera
