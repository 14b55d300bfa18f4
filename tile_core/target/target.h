#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What an architecture has. Limits per thread block unless said otherwise; bytes and counts from the CUDA
/// C++ Programming Guide, "Technical Specifications per Compute Capability".
struct Target {
  std::string arch;  ///< NVRTC's name, "sm_90a"
  int major = 0;
  int minor = 0;
  int shared_bytes = 0;     ///< opt-in limit of one block
  int shared_bytes_sm = 0;  ///< of one multiprocessor, which takes 1 KiB for itself from each block's part
  int max_threads = 1024;
  int registers_sm = 65536;
  bool cp_async = false;  ///< sm_80 and up
  bool mma = false;       ///< sm_80 and up: dots of each warp on the tensor cores (mma.sync, ldmatrix)
  bool wgmma = false;     ///< sm_90a: dots of warpgroups, fed by the copy engine (TMA) through mbarriers

  bool operator==(const Target&) const = default;
  /// Of one block, where so many are to fit one multiprocessor.
  int shared_bytes_for(int blocks) const;

  /// Throws UserError that lists the known names.
  static const Target& named(std::string_view arch);
  /// The target for a device of this compute capability; throws UserError below 8.0 or when it is not known.
  static const Target& for_capability(int major, int minor);
  static const std::vector<Target>& all();
};

}  // namespace tessera
