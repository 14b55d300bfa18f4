#pragma once
#include <string_view>

#include "tile_core/base/env.h"
#include "tile_core/runtime/kernel_store.h"

namespace tessera::dispatch {

/// Compiles and loads a kernel as far as TESSERA_JIT and a graph capture of the current stream allow. False:
/// native is to run this time, with one warning where that is no plan of anybody's. Under policy tile it
/// throws UserError instead.
bool make_ready(Kernel& kernel, std::string_view op, int device, Policy policy);

}  // namespace tessera::dispatch
