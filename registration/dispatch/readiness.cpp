#include "registration/dispatch/readiness.h"

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <fmt/format.h>

#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/launch.h"

namespace tessera::dispatch {
namespace {

/// Of one kernel that is not ready.
class Obstacle {
 public:
  Obstacle(const Kernel& kernel, std::string_view op, Policy policy)
      : kernel_(fmt::format("kernel {} for {}", kernel.text().name, kernel.target().arch)),
        op_(op),
        policy_(policy) {}

  /// Returns false, or throws under policy tile.
  bool report(const std::string& why, const std::string& way_out) const {
    if (policy_ == Policy::tile) {
      throw UserError::format("{}(): the policy is tile, but {} {}. {}", op_, kernel_, why, way_out);
    }
    log::warn_once(kernel_ + why,
                   fmt::format("{}(): ATen runs, since {} {}. {}", op_, kernel_, why, way_out));
    return false;
  }

 private:
  std::string kernel_;
  std::string_view op_;
  Policy policy_;
};

bool capturing() {
  return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

JitMode jit_mode() {
  static env::Cached<JitMode> mode(env::jit);
  return mode.get();
}

}  // namespace

bool make_ready(Kernel& kernel, std::string_view op, int device, Policy policy) {
  const Obstacle obstacle(kernel, op, policy);
  if (capturing()) {
    return obstacle.report(
        "is not loaded, and while a CUDA graph is captured nothing is compiled or loaded",
        "Call the operator once with this shape before the capture, or warm it up; the capture stays usable");
  }
  JitMode mode = jit_mode();
  if (mode == JitMode::background && policy == Policy::tile)
    mode = JitMode::block;  // nothing else may run meanwhile
  switch (kernel.request(mode)) {
    case Kernel::State::ready:
      break;
    case Kernel::State::pending:
      return false;
    case Kernel::State::absent:
      return obstacle.report("is not in the cache, and TESSERA_JIT=off forbids compiling it",
                             "Fill the cache with `tessera warmup`, or set TESSERA_JIT=block");
    case Kernel::State::failed:
      return obstacle.report("did not compile: " + kernel.failure(), "TESSERA_DUMP=cuda shows its text");
  }
  try {
    load(kernel, device);
  } catch (const std::exception& error) {
    return obstacle.report(fmt::format("could not be loaded: {}", error.what()),
                           "`tessera doctor` looks at the driver");
  }
  return true;
}

}  // namespace tessera::dispatch
