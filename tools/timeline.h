#pragma once
#include <string>
#include <vector>

#include "tile_core/ir/program.h"
#include "tile_core/target/target.h"
#include "tools/small_call.h"

namespace tessera::tools {

/// Runs a program at Stage::ready on small_sizes of a call in the interpreter: what each instance of each
/// role does, what it waits for and from whom, and which dots run under its arithmetic. `scalars` are the
/// call's.
std::string timeline(const Program& program, const Target& target, const Sizes& call,
                     const std::vector<double>& scalars);

}  // namespace tessera::tools
