#pragma once
#include <string>

#include "tile_core/runtime/cubin.h"

namespace tessera {

/// The machine code of a cubin as text, by nvdisasm or cuobjdump: in PATH, the CUDA toolkit, or triton's
/// package beside torch. Throws UserError that lists where they were looked for, or holds what the tool said.
std::string sass(const Cubin& cubin);

}  // namespace tessera
