#pragma once
#include <string_view>

#include "tile_core/base/env.h"
#include "tile_core/runtime/kernel_store.h"

struct CUstream_st;

namespace tessera::dispatch {

/// What a call finds.
enum class Readiness {
  ready,    ///< compiled, and loaded on the device
  refused,  ///< ATen is to run, until `moment_of` changes
  not_now,  ///< ATen is to run this time: a CUDA graph is captured
};

/// Compiles and loads a kernel as far as TESSERA_JIT and a graph capture of `stream` allow. Where it is not
/// ready there is one warning, unless a background thread is at it; under policy tile UserError is thrown
/// instead, always.
Readiness make_ready(Kernel& kernel, std::string_view op, int device, CUstream_st* stream, Policy policy);

/// A number that changes when a kernel that was refused may be asked for again: after a compilation, an end
/// of failures, a change of a setting.
std::uint64_t moment_of(const Kernel& kernel);

}  // namespace tessera::dispatch
