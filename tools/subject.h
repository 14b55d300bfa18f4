#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/operator.h"
#include "perf/call_spec.h"
#include "tile_core/autotune/device.h"
#include "tile_core/autotune/variant.h"
#include "tile_core/passes/passes.h"
#include "tile_core/runtime/executable.h"

namespace tessera::tools {

/// Which kernel of a call: of the operator's list or the plan's, then tiles and schedule by hand.
struct Choice {
  int variant = 0;                   ///< from 1 on; 0: the plan's
  Tiles tiles;                       ///< instead of those of the variant
  std::optional<Schedule> schedule;  ///< instead of the variant's
};

/// A kernel that `show` looks at.
struct Subject {
  const ops::Operator* op;
  ops::Problem problem;
  std::vector<double> scalars;  ///< of the call
  autotune::Device device;
  std::vector<ops::Variant> space;
  autotune::Variant variant;

  Program program() const;  ///< at Stage::tile
  PassContext context() const { return {problem.facts, variant.schedule, device.target}; }
  /// The program after the first pass that leaves it at this stage, or after the pass of that name.
  Program at(Stage stage) const;
  Program after(std::string_view pass) const;
  std::shared_ptr<const Executable> executable() const;
};

/// Throws UsageError where the operator has no such variant or tile, UserError where it has no tile kernel
/// for the call.
Subject subject_of(const CallSpec& call, const autotune::Device& device, const Choice& choice);

/// Reads "m=128,n=64"; throws UserError.
Tiles tiles_from_text(const std::string& text);

}  // namespace tessera::tools
