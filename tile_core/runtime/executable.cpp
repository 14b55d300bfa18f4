#include "tile_core/runtime/executable.h"

#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {

std::shared_ptr<const Executable> lower_to_cuda(const Program& program, const Facts& facts,
                                                const Schedule& schedule, const Target& target) {
  Program ready = lower(program, {facts, schedule, target});
  KernelText kernel = emit_cuda(ready, facts, schedule);
  return std::make_shared<const Executable>(Executable{std::move(ready), std::move(kernel), target});
}

std::shared_ptr<const Executable> lower_on_any_path(const Program& program, const Facts& facts,
                                                    const Schedule& schedule, const Target& target) {
  try {
    return lower_to_cuda(program, facts, schedule, target);
  } catch (const UserError&) {
    if (!target.wgmma) throw;
    Target plain = target;
    plain.wgmma = false;
    try {
      return lower_to_cuda(program, facts, schedule, plain);
    } catch (const UserError&) {  // the first reason is said
    }
    throw;
  }
}

}  // namespace tessera
