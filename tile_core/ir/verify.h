#pragma once
#include "tile_core/ir/program.h"

namespace tessera {

/// Checks that a program is what its stage says: every value is defined once, before its uses; types follow
/// from operands; and nothing stands in it that the stage does not allow (the tables in verify_stage.cpp).
/// Throws InternalError that names the value, its text and where it was written; the pipeline adds the pass.
void verify(const Program& program);

}  // namespace tessera
