#pragma once
#include <string>

#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"
#include "tile_core/target/target.h"

namespace tessera {

/// Twelve hexadecimal digits of all that a kernel is made from: what its dumps have in common, and no other
/// kernel's.
std::string digest_of(const Program& traced, const Facts& facts, const Schedule& schedule,
                      const Target& target);

}  // namespace tessera
