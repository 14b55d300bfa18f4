#pragma once
#include <memory>
#include <nvrtc.h>
#include <string>
#include <vector>

#include "tile_core/runtime/shared_library.h"

namespace tessera {

/// libnvrtc, opened at the first compilation. Searched in this order: TESSERA_NVRTC (and nothing else where
/// it is set), one that the process has loaded, the folders that a loaded torch ships, the CUDA toolkit, by
/// name.
class Nvrtc {
 public:
  /// Throws UserError that lists what was tried. Both outcomes are remembered, per value of TESSERA_NVRTC.
  static const Nvrtc& get();
  /// Lets the next `get` search again where it failed before.
  static void forget_failures();

  const std::string& path() const { return library_.path(); }
  int major() const { return major_; }
  int minor() const { return minor_; }
  std::string version() const;                              ///< "13.0"
  const std::vector<int>& archs() const { return archs_; }  ///< 75, 80, ... as it lists them, sorted

  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create_program = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  decltype(&::nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&::nvrtcGetPTX) ptx = nullptr;
  decltype(&::nvrtcSetFlowCallback) set_flow_callback = nullptr;  ///< may be null: NVRTC 12.9 and up

 private:
  explicit Nvrtc(SharedLibrary library);

  SharedLibrary library_;
  int major_ = 0;
  int minor_ = 0;
  std::vector<int> archs_;
};

/// The paths and names at which NVRTC is looked for, in order.
std::vector<std::string> nvrtc_candidates();

}  // namespace tessera
