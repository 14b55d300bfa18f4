#pragma once

namespace tessera::demo {

/// A transformer block, native and tessera side by side, in fp32 and bf16. With a GPU at full size; without
/// one the full-size block's kernels are compiled for three architectures and a small block runs in the
/// interpreter. False where something is not as it has to be.
bool show_block(bool gpu);

}  // namespace tessera::demo
