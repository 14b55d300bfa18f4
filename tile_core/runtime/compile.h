#pragma once
#include <string>
#include <vector>

#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/cubin.h"
#include "tile_core/target/target.h"

namespace tessera {

class Nvrtc;

struct CompileOptions {
  bool line_info = false;  ///< SASS refers to the operator file
  bool keep_ptx = false;
  bool operator==(const CompileOptions&) const = default;
};

/// NVRTC's command line, in a fixed order.
std::vector<std::string> compiler_flags(const Nvrtc& nvrtc, const Target& target,
                                        const CompileOptions& options);

/// Compiles to a cubin for exactly this architecture. No GPU is needed. Throws UserError where NVRTC is
/// missing, lacks its builtins library or does not know the architecture; InternalError with NVRTC's log
/// where it rejects the text.
Cubin compile(const KernelText& kernel, const Target& target, const CompileOptions& options = {});

/// Makes the end of the process wait for the compilations that run, before NVRTC's own exit handlers. Takes a
/// compilation of an empty kernel, once per architecture. For threads that the end of the process would not
/// wait for.
void prepare_for_exit(const Target& target);

}  // namespace tessera
