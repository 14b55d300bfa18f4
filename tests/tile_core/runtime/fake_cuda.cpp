#include "tests/tile_core/runtime/fake_cuda.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <fmt/ranges.h>

// libcuda.so.1 for tests: two devices of compute capability 9.0, no work done, every call written down.
namespace {

tessera::test::FakeCuda& state() {
  static auto* leaked = new tessera::test::FakeCuda;
  return *leaked;
}

template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

CUresult note(std::string call, int result = CUDA_SUCCESS) {
  state().calls.push_back(std::move(call));
  return static_cast<CUresult>(result);
}

}  // namespace

extern "C" {

tessera::test::FakeCuda& fake_cuda_state() {
  return state();
}

CUresult cuInit(unsigned) {
  return note("init", state().init_result);
}

CUresult cuDriverGetVersion(int* version) {
  *version = state().version;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_INVALID_IMAGE             ? "CUDA_ERROR_INVALID_IMAGE"
          : error == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : error == CUDA_ERROR_NO_DEVICE               ? "CUDA_ERROR_NO_DEVICE"
          : error == CUDA_ERROR_INVALID_VALUE           ? "CUDA_ERROR_INVALID_VALUE"
                                                        : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "no error" : "the fake's text";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  std::strncpy(name, device == 0 ? "Fake GPU 0" : "Fake GPU 1", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
                                                                       : 50 << 20;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = handle<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = handle<CUcontext>(static_cast<std::uintptr_t>(state().current_context));
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  state().current_context = static_cast<int>(reinterpret_cast<std::uintptr_t>(context));
  return note(fmt::format("set context {}", state().current_context));
}

CUresult cuCtxGetDevice(CUdevice* device) {
  *device = state().current_context == 2 ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option*, void**) {
  *module = handle<CUmodule>(100);
  const bool elf = std::memcmp(image,
                               "\x7f"
                               "ELF",
                               4) == 0;
  return note(fmt::format("load {} in context {} with {} options", elf ? "cubin" : "junk",
                          state().current_context, options),
              state().load_result);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = handle<CUfunction>(200 + static_cast<std::uintptr_t>(state().current_context));
  return note(fmt::format("function {}", name));
}

CUresult cuModuleUnload(CUmodule) {
  return note("unload");
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return note(fmt::format("attribute {} of {} = {}", static_cast<int>(attribute),
                          reinterpret_cast<std::uintptr_t>(function), value));
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  *clusters = 66;
  return note(fmt::format("clusters of {} grid {} block {} shared {}",
                          reinterpret_cast<std::uintptr_t>(function), config->gridDimX, config->blockDimX,
                          config->sharedMemBytes));
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = state().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return static_cast<CUresult>(state().capture_result);
}

// The graph that captures has the number of its stream; the id of a stream is its number, too.
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*,
                                   CUgraph* graph, const CUgraphNode**, size_t*) {
  *status = state().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  *graph = reinterpret_cast<CUgraph>(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned, unsigned) {
  state().destroyed.push_back([destroy, data] { destroy(data); });
  *object = handle<CUuserObject>(state().destroyed.size());
  return note("user object", state().user_object_result);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned) {
  state().destroyed.at(reinterpret_cast<std::uintptr_t>(object) - 1)();
  return note("release");
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return note(fmt::format("graph {} holds {} of object {} flags {}", reinterpret_cast<std::uintptr_t>(graph),
                          count, reinterpret_cast<std::uintptr_t>(object), flags),
              state().retain_result);
}

CUresult cuCtxSynchronize() {
  return note("wait for the context");
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  static CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(current, *mode);
  return note(fmt::format("capture mode {}", static_cast<int>(current)));
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  std::ranges::fill(map->opaque, 1000 + state().calls.size());
  return note(fmt::format("map type {} at {} sizes {} strides {} box {} steps {} interleave {} swizzle {} "
                          "promotion {} fill {}",
                          static_cast<int>(type), data, fmt::join(sizes, sizes + rank, ","),
                          fmt::join(strides, strides + rank - 1, ","), fmt::join(box, box + rank, ","),
                          fmt::join(steps, steps + rank, ","), static_cast<int>(interleave),
                          static_cast<int>(swizzle), static_cast<int>(promotion), static_cast<int>(fill)),
              state().map_result);
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream) {
  return note(fmt::format("set {} bytes at {:#x} to {} stream {}", bytes, at, value,
                          reinterpret_cast<std::uintptr_t>(stream)),
              state().set_result);
}

CUresult cuMemsetD2D8Async(CUdeviceptr at, size_t pitch, unsigned char value, size_t bytes, size_t rows,
                           CUstream stream) {
  return note(fmt::format("set {} rows of {} bytes, {} apart, at {:#x} to {} stream {}", rows, bytes, pitch,
                          at, value, reinterpret_cast<std::uintptr_t>(stream)),
              state().set_result);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
  const auto* fields = static_cast<const std::uint64_t*>(parameters[0]);
  state().parameters.assign(fields, fields + state().parameter_fields);
  return note(fmt::format("launch {} grid {} {} {} block {} {} {} shared {} stream {} attributes {}",
                          reinterpret_cast<std::uintptr_t>(function), config->gridDimX, config->gridDimY,
                          config->gridDimZ, config->blockDimX, config->blockDimY, config->blockDimZ,
                          config->sharedMemBytes, reinterpret_cast<std::uintptr_t>(config->hStream),
                          config->numAttrs),
              state().launch_result);
}

}  // extern "C"
