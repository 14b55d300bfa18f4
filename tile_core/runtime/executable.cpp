#include "tile_core/runtime/executable.h"

#include "tile_core/codegen/cuda.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {

std::shared_ptr<const Executable> lower_to_cuda(const Program& program, const Facts& facts,
                                                const Schedule& schedule, const Target& target) {
  Program ready = lower(program, {facts, schedule, target});
  KernelText kernel = emit_cuda(ready, facts, schedule);
  return std::make_shared<const Executable>(Executable{std::move(ready), std::move(kernel), target});
}

}  // namespace tessera
