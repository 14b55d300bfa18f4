#pragma once
#include <functional>
#include <span>

#include "tile_core/passes/passes.h"

namespace tessera {

/// One row of the pipeline.
struct Pass {
  const char* name;  ///< the word of its function, file, dump key, golden folder and test
  Program (*run)(const Program&, const PassContext&);
  Stage leaves;  ///< what verify() enforces afterwards
};

std::span<const Pass> pipeline();

/// Takes a traced program to Stage::ready, verifying after every pass. `after` sees the result of each, for
/// tests and `tessera show`. Throws UserError where the schedule is illegal, InternalError where a pass
/// breaks the program.
Program lower(const Program& program, const PassContext& context,
              const std::function<void(const Pass&, const Program&)>& after = {});

}  // namespace tessera
