#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tile_core/autotune/frozen_plans.h"
#include "tile_core/autotune/key.h"
#include "tile_core/autotune/records.h"
#include "tile_core/autotune/variant.h"
#include "tile_core/base/env.h"

namespace tessera::autotune {

/// Where a plan comes from, in the order of asking.
enum class Source { policy, frozen, user_records, shipped_records, cost_model };
const char* name_of(Source source);  ///< "the cost model"

/// A candidate that a plan weighed.
struct Candidate {
  std::string name;                    ///< "native", or the variant's text
  std::optional<double> microseconds;  ///< where it was measured
  std::string verdict;                 ///< "chosen", or why not
};

/// How a call is to run, and why.
struct Plan {
  std::optional<Variant> tile;  ///< nullopt: native
  Source source = Source::cost_model;
  std::string reason;                 ///< one sentence
  std::vector<Candidate> candidates;  ///< everything that was weighed
  std::vector<std::string> warnings;  ///< what a person should hear of once
  /// Under policy tile: why no tile kernel can run the call; empty where one can.
  std::string unsupported;
};

/// Why a variant cannot run the call, one sentence; empty where it can.
using Legality = std::function<std::string(const Variant&)>;

/// What is known besides the call itself; nullptr where there is none.
struct Knowledge {
  const FrozenPlans* frozen = nullptr;
  const Records* user = nullptr;
  const Records* shipped = nullptr;
  Versions here;  ///< the versions in this process
};

/// The plan for a call. `space` is the operator's list of variants, its best guess first.
Plan choose(const Key& key, const std::vector<Variant>& space, const Legality& illegal, Policy policy,
            const Knowledge& knowledge);

/// Many lines for people: the key, the plan, its source, and every candidate.
std::string describe(const Key& key, const Plan& plan);

}  // namespace tessera::autotune
