#pragma once
#include <cstdint>
#include <span>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/kernel_store.h"
#include "tile_core/runtime/loaded_function.h"
#include "tile_core/runtime/parameters.h"

struct CUstream_st;

namespace tessera {

/// The number of thread blocks, whole clusters of them; 0 where a size is 0. A persistent kernel has at most
/// as many as the device holds. Throws UserError naming the sizes above CUDA's 2^31 - 1.
std::int64_t grid_size(const KernelText& kernel, std::span<const TensorView> tensors, Residence device = {});

/// Launches a loaded kernel on `stream`, after setting the outputs that it adds to to 0; a grid of 0 blocks
/// is no launch. One that draws its tiles has a counter for itself (counters.h). Throws UserError where an
/// output that is added to overlaps another tensor, DriverError where the driver refuses.
void launch(const KernelText& kernel, const LoadedFunction& function, std::span<const TensorView> tensors,
            std::span<const ScalarValue> scalars, CUstream_st* stream);

/// Throws UserError where a dim is larger than the tile that covers it: what lies beyond would be left out.
void check_covered(const KernelText& kernel, std::span<const TensorView> tensors);

/// Launches a ready kernel on `stream` of `device`, after loading it there if need be. Throws UserError where
/// it is not loaded and the stream captures a graph.
void launch(Kernel& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
            int device, CUstream_st* stream);

/// Loads a ready kernel on `device` without launching it.
void load(Kernel& kernel, int device);

}  // namespace tessera
