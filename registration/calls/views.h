#pragma once
#include <ATen/core/Tensor.h>
#include <optional>

#include "registration/calls/call.h"

/// at::Tensor to TensorView.
namespace tessera {

/// The dtype in tile programs; nullopt where they have none. Booleans only in masks.
std::optional<DType> dtype_of(at::ScalarType dtype);
/// f16, bf16 or f32; else the call is refused and the answer is f32.
DType float_dtype_of(at::ScalarType dtype, Call& call);

/// A tensor as it is, of at most TensorView::kMaxRank dims.
TensorView view_of(const at::Tensor& tensor, DType dtype);
/// Row-major, without memory.
TensorView dense_view(at::IntArrayRef sizes, DType dtype);

/// The dims [begin, end) as one: its size and stride; nullopt where strides do not allow it.
struct Collapsed {
  std::int64_t size = 1;
  std::int64_t stride = 0;
};
std::optional<Collapsed> collapse(at::IntArrayRef sizes, at::IntArrayRef strides, std::size_t begin,
                                  std::size_t end);

/// Merges neighbouring dims wherever all views allow it, and drops dims of size 1. The views have one shape;
/// at least one dim remains.
void coalesce(std::span<TensorView> views);

}  // namespace tessera
