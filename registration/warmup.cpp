#include "tessera/warmup.h"

#include <c10/cuda/CUDAFunctions.h>
#include <fmt/ranges.h>
#include <set>

#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/disk_cache.h"
#include "tile_core/runtime/launch.h"

namespace tessera {
namespace {

std::string to_text(const CallShape& call) {
  std::string text = call.op;
  for (const auto& sizes : call.shapes) text += fmt::format(" {}", fmt::join(sizes, "x"));
  return fmt::format("{} {}", text, c10::toString(call.options.dtype));
}

/// Compiles the kernel where TESSERA_JIT is not off, which takes what the cache holds; throws where there is
/// none then.
void make_ready(Kernel& kernel) {
  switch (kernel.request(env::jit() == JitMode::off ? JitMode::off : JitMode::block)) {
    case Kernel::State::ready:
      return;
    case Kernel::State::failed:
      throw UserError(kernel.failure());
    case Kernel::State::absent:
    case Kernel::State::pending:  // no mode of these two leaves it so
      throw UserError::format(
          "kernel {} for {} is not in the cache, and TESSERA_JIT=off forbids compiling it; warm up with "
          "TESSERA_JIT=block",
          kernel.text().name, kernel.target().arch);
  }
}

/// Makes the kernel of one call ready and notes it; throws where that fails.
void warm(const Call& call, const autotune::Device& device, bool loads, Warmup& result,
          std::set<const Kernel*>& ready) {
  const Policy now = policy();
  if (call.unsupported().empty()) {
    const ops::Problem problem = call.problem();
    const autotune::Plan plan = dispatch::plan_of(call.op(), problem, device, now);
    if (!plan.unsupported.empty()) throw UserError::format("no tile kernel supports {}", plan.unsupported);
    if (plan.tile) {
      Kernel& kernel = *dispatch::lowered(call.op(), problem.facts, *plan.tile, device.target).kernel;
      const bool was_ready = kernel.state() == Kernel::State::ready;
      make_ready(kernel);
      result.compiled += !was_ready && kernel.compiled() ? 1 : 0;
      ++result.kernels;
      ready.insert(&kernel);
      if (loads) load(kernel, c10::cuda::current_device());
      return;
    }
  } else if (now == Policy::tile) {
    throw UserError::format("no tile kernel supports {}", call.unsupported());
  }
  ++result.native;
}

}  // namespace

Warmup warmup(const std::vector<CallShape>& calls, std::string_view device, const WarmupProgress& progress) {
  Warmup result;
  std::set<const Kernel*> ready;
  const std::optional<autotune::Device> on = dispatch::device_of(device);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string text = to_text(calls[i]);
    if (progress) progress(i, calls.size(), text);
    const Call call = dispatch::call_of(calls[i]);
    if (!on.has_value()) {
      ++result.native;
      continue;
    }
    try {
      warm(call, *on, device.empty(), result, ready);
    } catch (const std::exception& error) {
      result.failures.push_back({text, error.what()});
    }
  }
  for (const Kernel* kernel : ready) {
    if (result.cache_problem.empty()) result.cache_problem = disk_cache::why_not_kept(kernel->cubin().key);
  }
  return result;
}

}  // namespace tessera
