#pragma once
#include "registration/calls/call.h"

namespace tessera::dispatch {

/// Runs the operator's program on tensors in the CPU's memory: policy tile without a GPU.
void run_in_interpreter(const Call& call);

/// A call's numbers as the interpreter takes them. Throws UserError for one that a double does not hold.
std::vector<double> interpreter_numbers(std::string_view op, std::span<const ScalarValue> scalars);

}  // namespace tessera::dispatch
