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

/// Makes compilations that run in other threads stop soon and later ones fail at once. For the end of the
/// process.
void cancel_compilations();

}  // namespace tessera
