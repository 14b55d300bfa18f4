#pragma once
#include <memory>
#include <span>
#include <string>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"
#include "tile_core/target/target.h"

namespace tessera {

/// A program taken through every pass to CUDA text for one target. Cheap to make (no NVRTC): milliseconds.
struct Executable {
  Program program;    ///< at Stage::ready
  KernelText kernel;  ///< what NVRTC compiles, and the recipe of a launch
  Target target;
};

/// Runs the passes and the emitter. Throws UserError where the schedule is illegal or the program does not
/// fit the target.
std::shared_ptr<const Executable> lower_to_cuda(const Program& program, const Facts& facts,
                                                const Schedule& schedule, const Target& target);

/// The same for a program that nobody has chosen a schedule for: where roles do not hold it, by warps on
/// the tensor cores, else on the plain path. Throws what the first way threw.
std::shared_ptr<const Executable> lower_on_any_path(const Program& program, const Facts& facts,
                                                    const Schedule& schedule, const Target& target);

}  // namespace tessera
