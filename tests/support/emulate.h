#pragma once
#include <vector>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera::test {

/// Builds a kernel's text, emitted for Prelude::emulated, with the host's compiler, and runs every block of
/// its grid. The library is kept in the build folder under the text's digest. Scalars stand in the order of
/// their declaration. Throws InternalError with what the compiler or the run complained of: wrong alignment,
/// an access outside of every tensor, accesses to shared memory that no barrier orders, a deadlock.
void emulate(const KernelText& kernel, const std::vector<TensorView>& tensors,
             const std::vector<double>& scalars, Landing landing);

/// Removes the files of the libraries that this process has loaded: of kernels that nobody asks for again.
void remove_libraries();

}  // namespace tessera::test
