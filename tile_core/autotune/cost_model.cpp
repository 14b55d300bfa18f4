#include "tile_core/autotune/cost_model.h"

namespace tessera::autotune {

std::string CostModel::reason() const {
  return prefers_native() ? "no record shows a generated kernel faster here"
                          : "the policy is tile, and nothing is measured here";
}

std::string CostModel::verdict() const {
  return prefers_native() ? "no record shows it faster than native"
                          : "behind the chosen one in the operator's own order";
}

}  // namespace tessera::autotune
