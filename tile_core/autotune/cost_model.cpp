#include "tile_core/autotune/cost_model.h"

namespace tessera::autotune {

Assumption assumption(Policy policy) {
  if (policy == Policy::tile) {
    return {false, "the policy is tile, and nothing is measured here",
            "behind the chosen one in the operator's own order"};
  }
  return {true, "no record shows a generated kernel faster here", "no record shows it faster than native"};
}

}  // namespace tessera::autotune
