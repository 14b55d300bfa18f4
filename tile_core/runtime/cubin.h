#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A compiled kernel, and what the compiler said of it.
struct Cubin {
  std::string key;     ///< sha256 in hex of everything that the image depends on
  std::string kernel;  ///< the symbol
  std::string arch;    ///< "sm_90a"
  std::string nvrtc;   ///< version of the compiler, "13.0"
  std::string image;   ///< the ELF file
  std::string ptx;     ///< only where asked for
  std::string log;     ///< the compiler's whole log
  int registers = 0;   ///< per thread
  int stack_bytes = 0;
  int spill_bytes = 0;  ///< stores and loads
  double compile_ms = 0;

  /// Why a kernel should not run: spills, stack, and ptxas warnings of serialised tensor-core instructions
  /// (C75xx), one sentence each. Empty for a good kernel.
  std::vector<std::string> complaints() const;
};

/// Fills registers, stack and spills from a log written under --ptxas-options=-v.
void read_ptxas_log(Cubin& cubin);

/// What an image is, for messages: "a cubin", "PTX 8.7" or "not a kernel image".
std::string describe_image(std::string_view image);
bool is_cubin(std::string_view image);

}  // namespace tessera
