#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tile_core/runtime/counters.h"
#include "tile_core/runtime/cubin.h"

struct CUctx_st;
struct CUfunc_st;
struct CUstream_st;

namespace tessera {

/// What the launches of a kernel ask for.
struct BlockShape {
  int threads = 1;
  int shared_bytes = 0;  ///< dynamic shared memory
  int cluster = 1;       ///< blocks of a cluster
};

/// What a device holds at a time.
struct Residence {
  int multiprocessors = 1;
  int clusters = 0;  ///< of a kernel whose blocks form some
};

/// A kernel in one context, ready to launch.
struct LoadedFunction {
  CUfunc_st* handle = nullptr;
  CUctx_st* context = nullptr;
  Residence residence;
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();  ///< of one that draws its tiles
};

/// What must hold before the driver is asked to load: the image is a cubin that the device (compute
/// capability major.minor) can run, and no graph is being captured. Throws UserError.
void check_loadable(const Cubin& cubin, int major, int minor);
[[noreturn]] void refuse_to_load_during_capture(const std::string& kernel);

/// One kernel's functions, one per context, loaded when first asked for and never unloaded.
class LoadedFunctions {
 public:
  /// The function on `device` in the thread's context there. While `stream` captures a graph nothing is
  /// loaded: a function that is not there yet is a UserError, and the capture stays usable. `shape` is
  /// that of its launches.
  const LoadedFunction& get(const Cubin& cubin, BlockShape shape, int device, CUstream_st* stream);

  /// Whether `get` would load nothing, in the thread's context on `device`.
  bool loaded_on(int device);

 private:
  const LoadedFunction& load(const Cubin& cubin, BlockShape shape, int device, CUctx_st* context,
                             CUstream_st* stream);

  static constexpr std::size_t kSlots = 64;
  std::array<std::atomic<const LoadedFunction*>, kSlots> last_used_{};  // by device
  std::mutex mutex_;
  std::vector<std::unique_ptr<const LoadedFunction>> all_;
};

}  // namespace tessera
