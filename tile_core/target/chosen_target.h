#pragma once
#include "tile_core/target/target.h"

namespace tessera {

/// The architecture of TESSERA_ARCH; nullptr where it is unset. Throws UserError that names the variable.
const Target* chosen_target();

}  // namespace tessera
