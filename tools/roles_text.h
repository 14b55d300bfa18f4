#pragma once
#include <string>

#include "tile_core/passes/passes.h"

namespace tessera::tools {

/// Of a program at Stage::ready: each role with its instances, warps and registers, what it holds in
/// registers by type, and the channels between them. Of one without roles, why its dots are not wgmma, or not
/// mma; `masked` is the same program at Stage::masked, where that is decided.
std::string roles_text(const Program& ready, const Program& masked, const PassContext& context);

}  // namespace tessera::tools
