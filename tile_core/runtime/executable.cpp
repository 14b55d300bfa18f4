#include "tile_core/runtime/executable.h"

#include <exception>
#include <utility>
#include <vector>

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
  std::vector<std::pair<Schedule, Target>> ways = {{schedule, target}};
  if (target.wgmma) {
    for (int stages : {3, 2}) {
      if (schedule.stages != Schedule::kAutomatic) break;
      ways.emplace_back(schedule, target);
      ways.back().first.stages = stages;
    }
    ways.emplace_back(schedule, target);
    ways.back().second.wgmma = false;
  }
  std::exception_ptr first;
  for (const auto& [chosen, on] : ways) {
    try {
      return lower_to_cuda(program, facts, chosen, on);
    } catch (const std::exception&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

}  // namespace tessera
