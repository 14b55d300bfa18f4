#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registration/calls/calls.h"
#include "registration/calls/precision.h"
#include "registration/calls/views.h"

namespace tessera {
namespace {

/// [*, K] as [M, K].
TensorView rows_of(const at::Tensor& input, DType dtype, Call& call) {
  const auto sizes = input.sizes(), strides = input.strides();
  const auto rows = collapse(sizes, strides, 0, sizes.size() - 1);
  if (!rows.has_value()) {
    call.refuse(fmt::format("input of sizes [{}] and strides [{}], whose leading dims are not one dim",
                            fmt::join(sizes, ", "), fmt::join(strides, ", ")));
  }
  TensorView view;
  view.data = input.is_meta() ? nullptr : const_cast<void*>(input.const_data_ptr());
  view.dtype = dtype;
  view.rank = 2;
  view.sizes = {rows.value_or(Collapsed{}).size, sizes.back()};
  view.strides = {rows.value_or(Collapsed{}).stride, strides.back()};
  return view;
}

/// Where a side is shorter cuBLAS may keep f32's digits even where torch allows TF32, as on an H200 for
/// 1111 x 64 of depth 36: there our error must not be larger either, and there is no time to win.
constexpr std::int64_t kShortestOfTf32 = 64;

}  // namespace

Call call_of(const LinearArguments& a, bool keeps) {
  Call call(a.op, ops::linear());
  const DType dtype = float_dtype_of(a.input.scalar_type(), call);
  const TensorView input = rows_of(a.input, dtype, call);
  const std::int64_t M = input.sizes[0], N = a.weight.size(0), K = a.weight.size(1);
  call.tensor(input);
  call.tensor(view_of(a.weight, dtype));
  if (a.has_bias()) call.tensor(view_of(*a.bias, dtype));
  call.output(dense_view({M, N}, dtype));
  if (keeps) call.output(dense_view({M, N}, dtype));
  call.flag("bias", a.has_bias());
  call.flag("gelu", static_cast<int>(a.activation));
  call.flag("preactivation", keeps);
  if (std::min({M, N, K}) >= kShortestOfTf32 && allows_tf32(a.input))
    call.flag("tf32", 1);  // other calls' keys lack it
  call.dim("M", M);
  call.dim("N", N);
  call.dim("K", K);
  return call;
}

Call training_call_of(const LinearArguments& a) {
  return call_of(a, a.keeps_in_training());
}

}  // namespace tessera
