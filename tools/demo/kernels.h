#pragma once
#include <string>
#include <vector>

#include "tile_core/autotune/device.h"
#include "tile_core/base/env.h"
#include "tools/demo/recorded_calls.h"

namespace tessera::demo {

/// One line for each call: how often, which kernel runs on the device under the policy, and where its plan
/// came from.
std::string plan_table(const std::vector<RecordedCall>& calls, const autotune::Device& device, Policy policy);

/// Compiles what the calls need under policy tile for each architecture, by the cache, and prints registers,
/// shared memory and SASS landmarks of every kernel.
void print_kernels(const std::vector<RecordedCall>& calls, const std::vector<std::string>& archs);

}  // namespace tessera::demo
