#pragma once
#include <string_view>

#include "tile_core/base/env.h"

namespace tessera::autotune {

/// What is assumed of a shape that nobody measured.
struct Assumption {
  bool native = true;        ///< else the operator's own order of variants counts
  std::string_view reason;   ///< why the chosen candidate was chosen
  std::string_view verdict;  ///< why a tile variant that could run was not
};

/// Native, unless the policy is tile: without a measurement nothing says that a generated kernel is faster.
Assumption assumption(Policy policy);

}  // namespace tessera::autotune
