#include <array>

#include "registration/calls/calls.h"
#include "registration/calls/views.h"

namespace tessera {
namespace {

constexpr std::array kOuter = {"O0", "O1", "O2", "O3", "O4", "O5", "O6", "O7"};

TensorView move_last(const TensorView& view, int dim) {
  TensorView moved = view;
  for (int i = dim; i + 1 < view.rank; ++i) {
    moved.sizes[i] = view.sizes[i + 1];
    moved.strides[i] = view.strides[i + 1];
  }
  moved.sizes[view.rank - 1] = view.sizes[dim];
  moved.strides[view.rank - 1] = view.strides[dim];
  return moved;
}

void append(TensorView& view, std::int64_t size, std::int64_t stride) {
  view.sizes[view.rank] = size;
  view.strides[view.rank++] = stride;
}

/// The dims beside the reduced one, as few as strides allow, and those that the program calls O0 .. and I.
struct Rows {
  std::array<TensorView, 2> views;  // self, output: without the reduced dim
  bool inner = false;               // the last one runs along memory, the reduced one does not
};

Rows rows_of(const TensorView& self, const TensorView& output, int dim) {
  Rows rows{{move_last(self, dim), move_last(output, dim)}};
  for (TensorView& v : rows.views) --v.rank;
  if (rows.views[0].rank == 0) {
    for (TensorView& v : rows.views) append(v, 1, 0);
  }
  coalesce(rows.views);
  const int last = rows.views[0].rank - 1;
  rows.inner = self.strides[dim] != 1 && self.sizes[dim] > 1 && rows.views[0].sizes[last] > 1;
  return rows;
}

}  // namespace

Call call_of(const SoftmaxArguments& a) {
  Call call("softmax", ops::softmax());
  const DType in = float_dtype_of(a.self.scalar_type(), call), out = float_dtype_of(a.output_dtype(), call);
  constexpr int kMostDims = TensorView::kMaxRank - 1;  // one is kept for a dim of size 1
  if (a.self.dim() > kMostDims) call.refuse("more than " + std::to_string(kMostDims) + " dims");
  if (!call.unsupported().empty()) return call;

  TensorView self = view_of(a.self, in), output = dense_view(a.self.sizes(), out);
  if (a.self.dim() == 0) {
    append(self, 1, 1);
    append(output, 1, 1);
  }
  const int dim = static_cast<int>(a.wrapped_dim());
  const std::int64_t N = self.sizes[dim];
  const std::array reduced = {self.strides[dim], output.strides[dim]};
  Rows rows = rows_of(self, output, dim);
  const int count = rows.views[0].rank;
  const int outer = rows.inner ? count - 1 : count;
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorView beside = rows.views[i];
    TensorView& view = rows.views[i];
    view.rank = outer;
    if (outer == 0) append(view, 1, 0);  // the program tiles a dim outside of the reduced one
    append(view, N, reduced[i]);
    if (rows.inner) append(view, beside.sizes[count - 1], beside.strides[count - 1]);
    i == 0 ? call.tensor(view) : call.output(view);
  }
  const TensorView& view = rows.views[0];
  const int outers = std::max(outer, 1);
  call.flag("outer", outers);
  call.flag("inner", rows.inner);
  for (int i = 0; i < outers; ++i) call.dim(kOuter[static_cast<std::size_t>(i)], view.sizes[i]);
  call.dim("N", N);
  if (rows.inner) call.dim("I", view.sizes[view.rank - 1]);
  return call;
}

}  // namespace tessera
