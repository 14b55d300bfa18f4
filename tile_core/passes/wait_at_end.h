#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// A loop whose dot may start under a wait for slots waits for those of its next iteration at the end of
/// each, and for those of the first before it. Such a dot is a trailing one whose copies are two iterations
/// ahead or more: its last products run there; and one whose rows stay: their first fragments are read there.
/// The order of everything stays; after the last iteration, or where there is none, it waits once more.
Program with_waits_at_end(Program program);

}  // namespace tessera
