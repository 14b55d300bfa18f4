#pragma once
#include "registration/calls/call.h"

namespace tessera::dispatch {

/// Runs the operator's program on tensors in the CPU's memory: policy tile without a GPU.
void run_in_interpreter(const Call& call);

}  // namespace tessera::dispatch
