#pragma once
#include "registration/arguments/add.h"
#include "registration/arguments/attention.h"
#include "registration/arguments/linear.h"
#include "registration/arguments/softmax.h"

namespace tessera::dispatch {

/// Whether ATen is to run this call.
template <typename Arguments>
bool runs_native(const Arguments&) {
  return true;
}

}  // namespace tessera::dispatch
