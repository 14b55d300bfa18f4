#include "registration/dispatch/readiness.h"

#include <fmt/format.h>

#include "registration/dispatch/report.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/launch.h"

namespace tessera::dispatch {
namespace {

/// A kernel that a call cannot have.
struct Obstacle {
  const Kernel& kernel;
  std::string_view op;
  Policy policy;

  std::string what() const {
    return fmt::format("kernel {} for {}", kernel.text().name, kernel.target().arch);
  }

  /// Warns once, or throws under policy tile.
  void report(const std::string& why, const std::string& way_out) const {
    if (policy == Policy::tile) {
      throw UserError::format("{}(): the policy is tile, but {} {}. {}", op, what(), why, way_out);
    }
    log::warn_once(what() + why, fmt::format("{}(): ATen runs, since {} {}. {}", op, what(), why, way_out));
    report_native(op, "{} {}", what(), why);
  }
};

JitMode jit_mode() {
  static env::Cached<JitMode> mode(env::jit);
  return mode.get();
}

Readiness in_capture(Kernel& kernel, const Obstacle& obstacle, int device) {
  if (kernel.state() == Kernel::State::ready && kernel.functions().loaded_on(device)) return Readiness::ready;
  obstacle.report(
      "is not loaded, and while a CUDA graph is captured nothing is compiled or loaded",
      "Call the operator once with this shape before the capture, or warm it up; the capture stays usable");
  return Readiness::not_now;
}

/// False where there is no kernel to load.
bool compiled(Kernel& kernel, const Obstacle& obstacle) {
  JitMode mode = jit_mode();
  if (mode == JitMode::background && obstacle.policy == Policy::tile)
    mode = JitMode::block;  // nothing else may run meanwhile
  switch (kernel.request(mode)) {
    case Kernel::State::ready:
      return true;
    case Kernel::State::pending:
      report_native(obstacle.op, "{} is compiled in the background", obstacle.what());
      break;
    case Kernel::State::absent:
      obstacle.report("is not in the cache, and TESSERA_JIT=off forbids compiling it",
                      "Fill the cache with `TESSERA_JIT=block tessera warmup`, or set TESSERA_JIT=block");
      break;
    case Kernel::State::failed:
      obstacle.report("did not compile: " + kernel.failure(), "TESSERA_DUMP=cuda shows its text");
      break;
  }
  return false;
}

}  // namespace

Readiness make_ready(Kernel& kernel, std::string_view op, int device, CUstream_st* stream, Policy policy) {
  const Obstacle obstacle{kernel, op, policy};
  driver::context_for(device);  // a thread without a context could not ask its default stream
  if (driver::stream_is_capturing(stream)) return in_capture(kernel, obstacle, device);
  if (!compiled(kernel, obstacle)) return Readiness::refused;
  try {
    load(kernel, device);
    return Readiness::ready;
  } catch (const std::exception& error) {
    obstacle.report(fmt::format("could not be loaded: {}", error.what()),
                    "`tessera doctor` looks at the driver");
  }
  return Readiness::refused;
}

std::uint64_t moment_of(const Kernel& kernel) {
  return std::uint64_t{env::generation()} << 32U | kernel.generation();
}

}  // namespace tessera::dispatch
