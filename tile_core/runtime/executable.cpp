#include "tile_core/runtime/executable.h"

#include <exception>
#include <utility>
#include <vector>

#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/passes/pipeline.h"
#include "tile_core/target/digest.h"

namespace tessera {

std::shared_ptr<const Executable> lower_to_cuda(const Program& program, const Facts& facts,
                                                const Schedule& schedule, const Target& target) {
  Program ready = lower(program, {facts, schedule, target});
  KernelText kernel = emit_cuda(ready, facts, schedule);
  kernel.digest = digest_of(program, facts, schedule, target);
  return std::make_shared<const Executable>(Executable{std::move(ready), std::move(kernel), target});
}

std::shared_ptr<const Executable> lower_on_any_path(const Program& program, const Facts& facts,
                                                    const Schedule& schedule, const Target& target) {
  std::vector<Target> ways = {target};
  for (bool Target::*path : {&Target::wgmma, &Target::mma}) {
    if (!(ways.back().*path)) continue;
    ways.push_back(ways.back());
    ways.back().*path = false;
  }
  std::exception_ptr first;
  for (const Target& way : ways) {
    try {
      return lower_to_cuda(program, facts, schedule, way);
    } catch (const UserError&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

}  // namespace tessera
