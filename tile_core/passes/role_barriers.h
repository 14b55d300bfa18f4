#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// Waits, fences and barriers of a role's instances around the slots that they write and the copy engine
/// copies out: a slot is written again only after it has been read, and read only after all have written it.
Program with_role_barriers(const Program& in);

}  // namespace tessera
