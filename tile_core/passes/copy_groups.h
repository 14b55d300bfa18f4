#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// The program without the commits that no wait needs: those with no wait before the next commit of their
/// block. Copies to two slots of one channel are of different iterations and stay in different groups. Where
/// waits stand is read from `synced`, the same program with its waits.
Program join_copy_groups(const Program& program, const Program& synced);

}  // namespace tessera
