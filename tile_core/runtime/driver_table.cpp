#include "tile_core/runtime/driver_table.h"

#include <mutex>
#include <optional>

#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/shared_library.h"

namespace tessera::driver {
namespace {

constexpr std::string_view kWayOut =
    "Generated kernels need an NVIDIA driver and GPU; without them operators run on the CPU";

Table functions_of(const SharedLibrary& cuda) {
  Table t;
  cuda.get(t.init, "cuInit");
  cuda.get(t.driver_get_version, "cuDriverGetVersion");
  cuda.get(t.get_error_name, "cuGetErrorName");
  cuda.get(t.get_error_string, "cuGetErrorString");
  cuda.get(t.device_get_count, "cuDeviceGetCount");
  cuda.get(t.device_get, "cuDeviceGet");
  cuda.get(t.device_get_name, "cuDeviceGetName");
  cuda.get(t.device_get_attribute, "cuDeviceGetAttribute");
  cuda.get(t.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  cuda.get(t.ctx_get_current, "cuCtxGetCurrent");
  cuda.get(t.ctx_set_current, "cuCtxSetCurrent");
  cuda.get(t.ctx_get_device, "cuCtxGetDevice");
  cuda.get(t.ctx_synchronize, "cuCtxSynchronize");
  cuda.get(t.module_load_data_ex, "cuModuleLoadDataEx");
  cuda.get(t.module_get_function, "cuModuleGetFunction");
  cuda.get(t.module_unload, "cuModuleUnload");
  cuda.get(t.func_set_attribute, "cuFuncSetAttribute");
  cuda.get(t.occupancy_max_active_clusters, "cuOccupancyMaxActiveClusters");
  cuda.get(t.stream_is_capturing, "cuStreamIsCapturing");
  cuda.get(t.stream_get_capture_info, "cuStreamGetCaptureInfo_v2");
  cuda.get(t.stream_get_id, "cuStreamGetId");
  cuda.get(t.user_object_create, "cuUserObjectCreate");
  cuda.get(t.user_object_release, "cuUserObjectRelease");
  cuda.get(t.graph_retain_user_object, "cuGraphRetainUserObject");
  cuda.get(t.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode");
  cuda.get(t.tensor_map_encode_tiled, "cuTensorMapEncodeTiled");
  cuda.get(t.memset_d8_async, "cuMemsetD8Async");
  cuda.get(t.memset_d2d8_async, "cuMemsetD2D8Async");
  cuda.get(t.launch_kernel_ex, "cuLaunchKernelEx");
  return t;
}

// Before anything else is looked up: an old driver lacks functions, and its version is the reason to give.
void check_version(const SharedLibrary& cuda) {
  decltype(&::cuDriverGetVersion) get_version = nullptr;
  cuda.get(get_version, "cuDriverGetVersion");
  int version = 0;
  get_version(&version);
  if (version >= kMinimumVersion) return;
  throw UserError::format(
      "the NVIDIA driver supports CUDA {} ({}), and Tessera needs {} or newer: update the driver, or use "
      "TESSERA_POLICY=native",
      version_text(version), cuda.path(), version_text(kMinimumVersion));
}

Table open() {
  const SharedLibrary cuda =
      SharedLibrary::open_first("the NVIDIA driver", {"libcuda.so.1", "libcuda.so"}, kWayOut);
  check_version(cuda);
  Table t = functions_of(cuda);
  const CUresult result = t.init(0);
  if (result == CUDA_SUCCESS) return t;
  const char* name = nullptr;
  t.get_error_name(result, &name);
  throw UserError::format("the NVIDIA driver ({}) does not start: cuInit gives {}. {}", cuda.path(),
                          name == nullptr ? "an unknown error" : name, kWayOut);
}

struct Opened {
  std::optional<Table> table;
  std::string problem;
};

const Opened& opened() {
  static const auto* once = [] {
    auto* result =
        new Opened;  // kept: no driver call may depend on the order in which a process is torn down
    try {
      result->table = open();
    } catch (const UserError& error) {
      result->problem = error.what();
    }
    return result;
  }();
  return *once;
}

}  // namespace

const Table& table() {
  const Opened& driver = opened();
  if (!driver.table) throw UserError(driver.problem);
  return *driver.table;
}

std::string error_text(CUresult result, std::string_view call, std::string_view doing) {
  const char* name = nullptr;
  const char* text = nullptr;
  table().get_error_name(result, &name);
  table().get_error_string(result, &text);
  return fmt::format("{}: {} ({}) {}", call, name == nullptr ? "unknown error" : name,
                     text == nullptr ? std::to_string(static_cast<int>(result)) : text, doing);
}

void check(CUresult result, std::string_view call, std::string_view doing) {
  if (result != CUDA_SUCCESS) throw DriverError(result, error_text(result, call, doing));
}

bool available() {
  return opened().table.has_value();
}

std::string problem() {
  return opened().problem;
}

}  // namespace tessera::driver
