#pragma once
#include <string>
#include <vector>

#include "tile_core/autotune/device.h"
#include "tile_core/base/env.h"
#include "tools/demo/recorded_calls.h"

namespace tessera::demo {

/// One line for each call: how often, which kernel runs on the device under the policy, and where its plan
/// came from.
void print_plans(const std::vector<RecordedCall>& calls, const autotune::Device& device, Policy policy);

/// The plans of an H200 under policy tile, and below each the kernel, compiled for every architecture
/// (through the cache): registers, shared memory and SASS landmarks.
void print_kernels(const std::vector<RecordedCall>& calls, const std::vector<std::string>& archs);

}  // namespace tessera::demo
