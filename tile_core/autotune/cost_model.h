#pragma once
#include <string>

#include "tile_core/base/env.h"

namespace tessera::autotune {

/// What is assumed of a shape that nobody measured. The kernels of the plain path are no match for ATen's
/// libraries in general, so that native runs unless the policy is tile; then the operator's own order of
/// variants counts.
class CostModel {
 public:
  explicit CostModel(Policy policy) : policy_(policy) {}

  bool prefers_native() const { return policy_ != Policy::tile; }
  /// Why the chosen candidate was chosen.
  std::string reason() const;
  /// Why a tile variant that could run was not.
  std::string verdict() const;

 private:
  Policy policy_;
};

}  // namespace tessera::autotune
