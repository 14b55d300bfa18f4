#pragma once
#include <cstdint>
#include <span>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"

/// The tensors of a call, as a kernel's recipe of a launch asks for them. InternalError where the call has no
/// such tensor or dim.
namespace tessera {

const TensorView& tensor_at(const KernelText& kernel, std::span<const TensorView> tensors, int index);
std::int64_t size_at(const KernelText& kernel, std::span<const TensorView> tensors, int index, int dim);
std::int64_t stride_at(const KernelText& kernel, std::span<const TensorView> tensors, int index, int dim);

}  // namespace tessera
