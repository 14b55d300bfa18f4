#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

struct CUctx_st;
struct CUstream_st;

namespace tessera {

/// A call of the CUDA driver failed. The text names the call, the driver's error and what was being done.
class DriverError : public std::runtime_error {
 public:
  DriverError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }  ///< the CUresult

 private:
  int code_;
};

/// The CUDA driver, opened at the first use of any function here, never when the library is loaded. All but
/// `available` and `problem` throw UserError where there is no usable driver, DriverError where it reports an
/// error.
namespace driver {

/// The oldest driver that has every function that is called, as the newest CUDA version it supports.
inline constexpr int kMinimumVersion = 12000;

bool available();
std::string problem();  ///< why it is not available, else empty

int version();                       ///< 13000 for CUDA 13.0
std::string version_text(int cuda);  ///< "13.0" of 13000

int device_count();

struct DeviceInfo {
  std::string name;  ///< "NVIDIA H200"
  int major = 0;     ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
};
/// Read once per device.
const DeviceInfo& device_info(int device);

/// The context in which this thread works on `device`: the current one if it is the device's, else the
/// device's primary one, which becomes current (a thread that made no CUDA call yet has none).
CUctx_st* context_for(int device);

/// Whether work given to `stream` goes into a CUDA graph. True for the legacy default stream, too, while it
/// may not be used because another stream captures. Does not disturb the capture.
bool stream_is_capturing(CUstream_st* stream);

}  // namespace driver
}  // namespace tessera
