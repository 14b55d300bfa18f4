#pragma once
#include <cstddef>
#include <cuda.h>
#include <string_view>

namespace tessera::driver {

/// Of CUDA 11.3 on; the header declares that of 12.3 alone.
using StreamGetCaptureInfo = CUresult(CUstream, CUstreamCaptureStatus*, cuuint64_t* id, CUgraph*,
                                      const CUgraphNode** dependencies, std::size_t* dependency_count);

/// The functions of libcuda.so.1 that are called, by their exported names.
struct Table {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driver_get_version = nullptr;
  decltype(&::cuGetErrorName) get_error_name = nullptr;
  decltype(&::cuGetErrorString) get_error_string = nullptr;
  decltype(&::cuDeviceGetCount) device_get_count = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_get_name = nullptr;
  decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) device_primary_ctx_retain = nullptr;
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&::cuCtxSetCurrent) ctx_set_current = nullptr;
  decltype(&::cuCtxGetDevice) ctx_get_device = nullptr;
  decltype(&::cuCtxSynchronize) ctx_synchronize = nullptr;
  decltype(&::cuModuleLoadDataEx) module_load_data_ex = nullptr;
  decltype(&::cuModuleGetFunction) module_get_function = nullptr;
  decltype(&::cuModuleUnload) module_unload = nullptr;
  decltype(&::cuFuncSetAttribute) func_set_attribute = nullptr;
  decltype(&::cuOccupancyMaxActiveClusters) occupancy_max_active_clusters = nullptr;
  decltype(&::cuStreamIsCapturing) stream_is_capturing = nullptr;
  StreamGetCaptureInfo* stream_get_capture_info = nullptr;
  decltype(&::cuStreamGetId) stream_get_id = nullptr;
  decltype(&::cuUserObjectCreate) user_object_create = nullptr;
  decltype(&::cuUserObjectRelease) user_object_release = nullptr;
  decltype(&::cuGraphRetainUserObject) graph_retain_user_object = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) thread_exchange_stream_capture_mode = nullptr;
  decltype(&::cuTensorMapEncodeTiled) tensor_map_encode_tiled = nullptr;
  decltype(&::cuMemsetD8Async) memset_d8_async = nullptr;
  decltype(&::cuMemsetD2D8Async) memset_d2d8_async = nullptr;
  decltype(&::cuLaunchKernelEx) launch_kernel_ex = nullptr;
};

/// Opens and initialises the driver once. Throws UserError where it is missing, too old or has no GPU; the
/// outcome is remembered.
const Table& table();

/// Throws DriverError unless `result` is CUDA_SUCCESS: "cuModuleLoadDataEx: CUDA_ERROR_... (text) WHILE".
void check(CUresult result, std::string_view call, std::string_view doing);
/// The text of such an error.
std::string error_text(CUresult result, std::string_view call, std::string_view doing);

}  // namespace tessera::driver
