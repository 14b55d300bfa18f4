#pragma once
#include <string>

#include "tile_core/codegen/kernel_text.h"
#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera {

/// Who will run the text: a GPU, or g++ with one fiber per thread (tests).
enum class Prelude { device, emulated };

/// The program at Stage::ready as one CUDA translation unit.
KernelText emit_cuda(const Program& program, const Facts& facts, const Schedule& schedule,
                     Prelude prelude = Prelude::device);

/// The wrappers that every kernel's text begins with: the only place with PTX, and its twin for a CPU.
std::string prelude_text(Prelude prelude);

}  // namespace tessera
