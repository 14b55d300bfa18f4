#pragma once
#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"

struct CUstream_st;

namespace tessera {

/// Sets every element of a kernel's tensor to 0 in the order of `stream`, also while it captures a graph:
/// one call of the driver. Throws UserError where the elements are no rows that lie equally far apart, and
/// DriverError where the driver refuses.
void set_zero(const KernelText& kernel, const TensorView& tensor, int index, CUstream_st* stream);

}  // namespace tessera
