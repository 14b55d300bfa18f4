#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "registration/calls/calls.h"
#include "registration/calls/views.h"

namespace tessera {
namespace {

constexpr std::int64_t kLargestHeadDim = 256;

/// The mask as [B, H, S_q, S_k]; dims that it lacks or has once have stride 0.
TensorView mask_view(const at::Tensor& mask, const std::array<std::int64_t, 4>& sizes, DType dtype) {
  TensorView view = view_of(mask, dtype);
  const int missing = 4 - view.rank;
  TensorView all = view;
  all.rank = 4;
  for (int i = 0; i < 4; ++i) {
    const bool once = i < missing || view.sizes[i - missing] != sizes[i] || sizes[i] == 1;
    all.sizes[i] = sizes[i];
    all.strides[i] = once ? 0 : view.strides[i - missing];
  }
  return all;
}

TensorView output_view(const AttentionArguments& a, DType dtype) {
  const auto sizes = output_sizes(a), strides = output_strides(a);
  TensorView view;
  view.dtype = dtype;
  view.rank = 4;
  for (int i = 0; i < 4; ++i) {
    view.sizes[i] = sizes[i].expect_int();
    view.strides[i] = strides[i].expect_int();
  }
  return view;
}

void refuse_what_no_kernel_does(const AttentionArguments& a, Call& call) {
  if (a.dropout_p > 0) call.refuse(fmt::format("dropout_p = {}", a.dropout_p));
  const std::int64_t head_dim = std::max(a.query.size(3), a.value.size(3));
  if (head_dim > kLargestHeadDim)
    call.refuse(fmt::format("head dim {}, above {}", head_dim, kLargestHeadDim));
}

}  // namespace

/// Products of f32 are not in TF32 where torch allows it: ATen's fused kernel, whose error ours is measured
/// by, makes three of each under any setting (cutlass::arch::OpMultiplyAddFastF32).
Call call_of(const AttentionArguments& a) {
  Call call(a.op, ops::attention());
  const DType dtype = float_dtype_of(a.query.scalar_type(), call);
  refuse_what_no_kernel_does(a, call);
  const std::int64_t B = a.query.size(0), H = a.query.size(1), I = a.query.size(2), G = a.key.size(1),
                     J = a.key.size(2);
  call.tensor(view_of(a.query, dtype));
  call.tensor(view_of(a.key, dtype));
  call.tensor(view_of(a.value, dtype));
  if (a.has_mask()) {
    const std::optional<DType> mask = dtype_of(a.mask->scalar_type());
    if (!mask.has_value())
      call.refuse(fmt::format("attn_mask of dtype {}", c10::toString(a.mask->scalar_type())));
    call.tensor(mask_view(*a.mask, {B, H, I, J}, mask.value_or(f32)));
  }
  call.output(output_view(a, dtype));
  call.output(dense_view({B, H, I}, f32));
  const int mask_kind = !a.has_mask() ? 0 : a.mask->scalar_type() == at::kBool ? 1 : 2;
  call.flag("causal", a.is_causal);
  call.flag("mask", mask_kind);
  const auto scale = static_cast<float>(a.scale_value());
  if (!(scale > 0 && std::isfinite(scale))) call.flag("signed", 1);  // rare: other calls' keys lack it
  call.scalar(scale);
  call.scalar(std::clamp(a.diagonal, -I, J));  // beyond, all or no keys are visible
  call.scalar(G == 0 ? std::int64_t{1} : H / G);
  call.dim("B", B);
  call.dim("H", H);
  call.dim("G", G);
  call.dim("I", I);
  call.dim("J", J);
  call.dim("D", a.query.size(3));
  call.dim("E", a.value.size(3));
  return call;
}

}  // namespace tessera
