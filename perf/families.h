#pragma once
#include <string>
#include <vector>

#include "perf/call_spec.h"

namespace tessera::perf {

/// Calls that are judged together.
struct CallList {
  std::string name;
  std::vector<CallSpec> calls;
};

/// The families that are measured for speed, in the order of the result tables.
std::vector<CallList> speed_families();

/// What is measured of each device program that is written by hand; a list bears the name of its text.
std::vector<CallList> device_program_calls();

/// Every operator in every dtype, with ragged sizes, masks and broadcasts; small enough for a float64
/// reference with gradients.
std::vector<CallSpec> accuracy_calls();

/// The smallest calls, where the host's part is what counts.
std::vector<CallSpec> small_calls();

}  // namespace tessera::perf
