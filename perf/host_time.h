#pragma once
#include "perf/call_spec.h"
#include "perf/statistics.h"

namespace tessera::perf {

/// Microseconds that the host spends on one call, in a loop that never waits for the GPU.
struct HostTime {
  Summary ours;
  Summary native;
};

/// With `grad` the inputs require grad, so that every call records its backward.
HostTime measure_host_time(const CallSpec& spec, bool grad, int rounds);

}  // namespace tessera::perf
