#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/call_shape.h"

/// Kernels made ready before the first call needs them: before a CUDA graph is captured, or on a machine that
/// builds the cache for others.
namespace tessera {

struct Warmup {
  struct Failure {
    std::string call;
    std::string problem;
  };

  int kernels = 0;   ///< that are ready now
  int compiled = 0;  ///< of them, not in the cache before
  int native = 0;    ///< calls whose plan is ATen: nothing to do
  std::vector<Failure> failures;
  /// Why kernels that are ready are not in the cache, where other processes would find them; empty where all
  /// are.
  std::string cache_problem;
};

/// Called before each call is looked at.
using WarmupProgress = std::function<void(std::size_t done, std::size_t all, const std::string& call)>;

/// Compiles the kernels that the plans of these calls name, under the policy in force, into the cache.
/// device: as explain's. With an empty one they are loaded on torch's current device, too; without a GPU
/// there is nothing to do. Under TESSERA_JIT=off nothing is compiled: a kernel that the cache does not hold
/// is a failure. A kernel that cannot be made is among the failures; the others are made. Throws as
/// explain does. Of linear and linear_gelu in fp32 torch's float32-matmul-precision at this moment decides
/// between kernels in TF32 and others: warm up under the setting that the calls will run under.
Warmup warmup(const std::vector<CallShape>& calls, std::string_view device = {},
              const WarmupProgress& progress = {});

}  // namespace tessera
