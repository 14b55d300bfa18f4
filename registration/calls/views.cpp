#include "registration/calls/views.h"

#include <algorithm>
#include <fmt/format.h>

namespace tessera {

std::optional<DType> dtype_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return f16;
    case at::kBFloat16:
      return bf16;
    case at::kFloat:
      return f32;
    case at::kBool:
      return boolean;
    default:
      return {};
  }
}

DType float_dtype_of(at::ScalarType dtype, Call& call) {
  const std::optional<DType> found = dtype_of(dtype);
  if (found.has_value() && is_float(*found)) return *found;
  call.refuse(fmt::format("dtype {}", c10::toString(dtype)));
  return f32;
}

TensorView view_of(const at::Tensor& tensor, DType dtype) {
  TensorView view;
  view.data =
      tensor.is_meta() ? nullptr : const_cast<void*>(tensor.const_data_ptr());  // kernels only read inputs
  view.dtype = dtype;
  view.rank = static_cast<int>(tensor.dim());
  std::ranges::copy(tensor.sizes(), view.sizes.begin());
  std::ranges::copy(tensor.strides(), view.strides.begin());
  return view;
}

TensorView dense_view(at::IntArrayRef sizes, DType dtype) {
  TensorView view;
  view.dtype = dtype;
  view.rank = static_cast<int>(sizes.size());
  std::int64_t stride = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    view.sizes[i] = sizes[i];
    view.strides[i] = stride;
    stride *= std::max<std::int64_t>(sizes[i], 1);
  }
  return view;
}

std::optional<Collapsed> collapse(at::IntArrayRef sizes, at::IntArrayRef strides, std::size_t begin,
                                  std::size_t end) {
  Collapsed all;
  for (std::size_t i = end; i-- > begin;) {
    if (sizes[i] == 0) return Collapsed{0, 0};
    if (sizes[i] == 1) continue;
    if (all.size == 1) {
      all = {sizes[i], strides[i]};
    } else if (strides[i] == all.stride * all.size) {
      all.size *= sizes[i];
    } else {
      return {};
    }
  }
  return all;
}

void coalesce(std::span<TensorView> views) {
  const int rank = views.front().rank;
  const auto sizes = views.front().sizes;
  const auto mergeable = [&](int into, int next) {
    return std::ranges::all_of(
        views, [&](const TensorView& v) { return v.strides[into] == v.strides[next] * sizes[next]; });
  };
  int last = -1;  // of the dims kept, slowest first
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] == 1) continue;
    // A dim kept at `last` has, in every view, the stride of its fastest part.
    const bool merges = last >= 0 && mergeable(last, i);
    if (!merges) ++last;
    for (TensorView& v : views) {
      v.sizes[last] = merges ? v.sizes[last] * sizes[i] : sizes[i];
      v.strides[last] = v.strides[i];
    }
  }
  for (TensorView& v : views) {
    v.rank = std::max(last + 1, 1);
    if (last >= 0) continue;
    v.sizes[0] = 1;
    v.strides[0] = 0;
  }
}

}  // namespace tessera
