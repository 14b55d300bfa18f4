#pragma once
#include <map>
#include <string>

#include "ops/operator.h"
#include "tile_core/autotune/variant.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/runtime/kernel_store.h"
#include "tile_core/target/target.h"

namespace tessera::dispatch {

ops::Variant variant_of(const autotune::Variant& variant);
autotune::Variant variant_of(const ops::Variant& variant);

/// The passes and the emitter on the operator's program; throws UserError where the variant cannot run the
/// call. The variant's tiles bear the names that the program asks for.
std::shared_ptr<const Executable> lower(const ops::Operator& op, const Facts& facts,
                                        const autotune::Variant& variant, const Target& target);

/// What `lower` gives: the process's kernel, or why there is none.
struct Lowered {
  Kernel* kernel = nullptr;
  std::string problem;
  std::map<std::string, int>
      covered;  ///< dims that a block covers with one tile, by name: their largest size
};
/// Remembered for ever. Throws nothing that `lower` throws.
const Lowered& lowered(const ops::Operator& op, const Facts& facts, const autotune::Variant& variant,
                       const Target& target);

}  // namespace tessera::dispatch
