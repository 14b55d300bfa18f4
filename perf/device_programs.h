#pragma once
#include <string>

#include "tile_core/codegen/kernel_text.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/target.h"

/// Device programs that are written by hand, as text: what the passes' kernels are measured against.
namespace tessera::perf {

/// The text FOLDER/NAME.txt, of Stage::synced, as a kernel for tensors of these facts. Throws UserError where
/// there is none, or where it is no such program.
KernelText kernel_by_hand(const std::string& folder, const std::string& name, const Facts& facts,
                          const Target& target);

}  // namespace tessera::perf
