#include "tile_core/runtime/driver.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "tile_core/base/error.h"
#include "tile_core/runtime/driver_table.h"

namespace tessera::driver {
namespace {

int attribute(CUdevice_attribute which, CUdevice handle) {
  int value = 0;
  check(table().device_get_attribute(&value, which, handle), "cuDeviceGetAttribute", "reading a device");
  return value;
}

CUdevice handle_of(int device) {
  CUdevice handle = 0;
  check(table().device_get(&handle, device), "cuDeviceGet", fmt::format("for device {}", device));
  return handle;
}

DeviceInfo read_info(int device) {
  constexpr int kNameBytes = 256;
  const CUdevice handle = handle_of(device);
  std::array<char, kNameBytes> name{};
  check(table().device_get_name(name.data(), kNameBytes, handle), "cuDeviceGetName", "reading a device");
  return {.name = name.data(),
          .major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle),
          .minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle),
          .multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle),
          .l2_bytes = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, handle))};
}

constexpr int kMaxDevices = 64;

// The primary context of a device, kept for the life of the process. Null before the first use.
std::atomic<CUcontext>& primary_slot(int device) {
  static std::array<std::atomic<CUcontext>, kMaxDevices> slots;
  if (device < 0 || device >= kMaxDevices)
    throw UserError::format("device {} is out of range: 0 to {}", device, kMaxDevices - 1);
  return slots[static_cast<std::size_t>(device)];
}

CUcontext primary_context(int device) {
  std::atomic<CUcontext>& slot = primary_slot(device);
  CUcontext context = slot.load(std::memory_order_acquire);
  if (context != nullptr) return context;
  check(table().device_primary_ctx_retain(&context, handle_of(device)), "cuDevicePrimaryCtxRetain",
        fmt::format("for device {}", device));
  slot.store(context, std::memory_order_release);  // two threads store the same
  return context;
}

}  // namespace

std::string version_text(int cuda) {
  return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

int version() {
  int value = 0;
  check(table().driver_get_version(&value), "cuDriverGetVersion", "reading the driver's version");
  return value;
}

int device_count() {
  int count = 0;
  check(table().device_get_count(&count), "cuDeviceGetCount", "counting devices");
  return count;
}

const DeviceInfo& device_info(int device) {
  static std::mutex mutex;
  static auto* known = new std::map<int, DeviceInfo>;  // a map's elements stay where they are
  const std::scoped_lock lock(mutex);
  auto found = known->find(device);
  if (found == known->end()) found = known->emplace(device, read_info(device)).first;
  return found->second;
}

CUctx_st* context_for(int device) {
  CUcontext current = nullptr;
  check(table().ctx_get_current(&current), "cuCtxGetCurrent", "before a launch");
  if (current != nullptr) {
    if (current == primary_slot(device).load(std::memory_order_acquire)) return current;
    CUdevice owner = 0;
    check(table().ctx_get_device(&owner), "cuCtxGetDevice", "before a launch");
    if (owner == handle_of(device)) return current;
  }
  CUcontext primary = primary_context(device);
  check(table().ctx_set_current(primary), "cuCtxSetCurrent", fmt::format("for device {}", device));
  return primary;
}

bool stream_is_capturing(CUstream_st* stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = table().stream_is_capturing(stream, &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  check(result, "cuStreamIsCapturing", "before a launch");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace tessera::driver
