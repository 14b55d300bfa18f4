#pragma once
#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

#include "perf/accuracy.h"
#include "registration/calls/call.h"
#include "tile_core/autotune/variant.h"
#include "tile_core/runtime/kernel_store.h"
#include "tile_core/target/target.h"

/// One kernel of a call, launched past the dispatch.
namespace tessera::perf {

/// The call with its inputs' memory. Throws UserError where no tile kernel can run it.
Call bound_call(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// A kernel with outputs of its own.
struct Trial {
  Call call;
  Kernel* kernel = nullptr;
  std::vector<at::Tensor> outputs;
  Accuracy accuracy;    ///< of the first output
  std::string failure;  ///< why it may not be used: it does not compile, or its result is wrong

  /// Enqueues one launch on torch's current stream.
  void operator()() const;
};

/// The kernel, compiled and run once on the call's inputs; every output is checked.
Trial try_kernel(const Call& call, Kernel& kernel, const std::vector<Expected>& expected);

/// The same of the operator's own program.
Trial try_variant(const Call& call, const autotune::Variant& variant, const Target& target,
                  const std::vector<Expected>& expected);

}  // namespace tessera::perf
