#include "tile_core/runtime/loaded_function.h"

#include <algorithm>
#include <bit>

#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"
#include "tile_core/runtime/profiler.h"
#include "tile_core/target/target.h"

namespace tessera {
namespace {

// Loading must not invalidate a capture that another thread makes in global mode.
class RelaxedCapture {
 public:
  RelaxedCapture() { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() { driver::table().thread_exchange_stream_capture_mode(&mode_); }
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

CUmodule load_module(const Cubin& cubin) {
  std::array<char, 4096> log{};
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), std::bit_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = driver::table().module_load_data_ex(
      &module, cubin.image.data(), static_cast<unsigned>(options.size()), options.data(), values.data());
  driver::check(result, "cuModuleLoadDataEx",
                fmt::format("loading kernel {}, compiled for {} by NVRTC {}; the driver supports CUDA {}{}{}",
                            cubin.kernel, cubin.arch, cubin.nvrtc, driver::version_text(driver::version()),
                            log[0] == '\0' ? "" : ": ", log.data()));
  return module;
}

CUfunction load_function(const Cubin& cubin, int shared_bytes) {
  constexpr int kDefaultLimit = 48 * 1024;
  const RelaxedCapture relaxed;
  CUmodule module = load_module(cubin);
  CUfunction function = nullptr;
  const CUresult found = driver::table().module_get_function(&function, module, cubin.kernel.c_str());
  CUresult sized = CUDA_SUCCESS;
  if (found == CUDA_SUCCESS && shared_bytes > kDefaultLimit) {
    sized = driver::table().func_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               shared_bytes);
  }
  if (found != CUDA_SUCCESS || sized != CUDA_SUCCESS) driver::table().module_unload(module);
  driver::check(found, "cuModuleGetFunction",
                fmt::format("looking for kernel {} in its module", cubin.kernel));
  driver::check(sized, "cuFuncSetAttribute",
                fmt::format("giving kernel {} {} bytes of shared memory", cubin.kernel, shared_bytes));
  return function;
}

/// The text of a kernel says how its clusters lie; 0 where its blocks form none.
int resident_clusters(const Cubin& cubin, CUfunction function, const BlockShape& shape, int multiprocessors) {
  if (shape.cluster == 1) return 0;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(multiprocessors / shape.cluster * shape.cluster);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(shape.threads);
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
  int clusters = 0;
  driver::check(driver::table().occupancy_max_active_clusters(&clusters, function, &config),
                "cuOccupancyMaxActiveClusters",
                fmt::format("asking how many clusters of {} blocks of kernel {} the device holds",
                            shape.cluster, cubin.kernel));
  return clusters;
}

}  // namespace

void check_loadable(const Cubin& cubin, int major, int minor) {
  if (!is_cubin(cubin.image)) {
    throw UserError::format(
        "kernel {} for {}: the image is {}, and only cubins (ELF) are loaded, so that no driver is too old "
        "for them{}",
        cubin.kernel, cubin.arch, describe_image(cubin.image),
        driver::available()
            ? fmt::format("; this driver supports CUDA {}", driver::version_text(driver::version()))
            : "");
  }
  const Target& target = Target::named(cubin.arch);
  const bool exact = target.arch.back() == 'a';  // sm_90a runs on 9.0 only, sm_80 on 8.x
  if (target.major == major && (exact ? target.minor == minor : target.minor <= minor)) return;
  throw UserError::format(
      "kernel {} is compiled for {}, and this device has compute capability {}.{}: unset TESSERA_ARCH to run "
      "here",
      cubin.kernel, cubin.arch, major, minor);
}

void refuse_to_load_during_capture(const std::string& kernel) {
  throw UserError::format(
      "kernel {} is not loaded, and the stream captures a CUDA graph: nothing is compiled or loaded then. "
      "The capture "
      "stays usable; run the call once, or tessera::warmup, before capturing",
      kernel);
}

const LoadedFunction& LoadedFunctions::get(const Cubin& cubin, BlockShape shape, int device,
                                           CUstream_st* stream) {
  CUctx_st* context = driver::context_for(device);  // throws unless 0 <= device < 64
  const auto slot = static_cast<std::size_t>(device);
  const LoadedFunction* last = last_used_[slot].load(std::memory_order_acquire);
  if (last != nullptr && last->context == context) return *last;
  const LoadedFunction& function = load(cubin, shape, device, context, stream);
  last_used_[slot].store(&function, std::memory_order_release);
  return function;
}

bool LoadedFunctions::loaded_on(int device) {
  CUctx_st* context = driver::context_for(device);
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(all_, [&](const auto& function) { return function->context == context; });
}

const LoadedFunction& LoadedFunctions::load(const Cubin& cubin, BlockShape shape, int device,
                                            CUctx_st* context, CUstream_st* stream) {
  const std::scoped_lock lock(mutex_);
  for (const auto& function : all_) {
    if (function->context == context) return *function;
  }
  if (driver::stream_is_capturing(stream)) refuse_to_load_during_capture(cubin.kernel);
  const driver::DeviceInfo& info = driver::device_info(device);
  check_loadable(cubin, info.major, info.minor);
  const profiler::Range range("tessera: load kernel " + cubin.kernel);
  CUfunction function = load_function(cubin, shape.shared_bytes);
  const Residence residence{info.multiprocessors,
                            resident_clusters(cubin, function, shape, info.multiprocessors)};
  all_.push_back(std::make_unique<LoadedFunction>(LoadedFunction{function, context, residence}));
  log::info(log::Topic::compile, fmt::format("{} loaded on device {} ({})", cubin.kernel, device, info.name));
  return *all_.back();
}

}  // namespace tessera
