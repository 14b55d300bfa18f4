#pragma once
#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/parameters.h"

struct CUctx_st;

namespace tessera {

/// Describes a tensor to the copy engine (cuTensorMapEncodeTiled), for launches in `context`, the thread's
/// current one. A thread remembers what it encoded last, so that a call like an earlier one costs a look-up.
/// Throws UserError where a map cannot express the tensor or the box, see target/bulk.h; DriverError where
/// the driver refuses.
void encode_map(const KernelText& kernel, const TensorMap& map, const TensorView& tensor, CUctx_st* context,
                std::span<std::uint64_t, ParameterBlock::kMapFields> encoded);

}  // namespace tessera
