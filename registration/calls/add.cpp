#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/result_type.h>
#include <array>
#include <c10/util/strides.h>
#include <fmt/format.h>
#include <optional>

#include "registration/calls/calls.h"
#include "registration/calls/views.h"

namespace tessera {
namespace {

constexpr std::array kDims = {"D0", "D1", "D2", "D3", "D4", "D5", "D6", "D7"};

/// A tensor's strides along the dims of the result, 0 where it is broadcast.
at::DimVector expanded_strides(const at::Tensor& t, at::IntArrayRef sizes) {
  at::DimVector strides(sizes.size(), 0);
  const std::size_t missing = sizes.size() - static_cast<std::size_t>(t.dim());
  for (std::size_t i = missing; i < sizes.size(); ++i) {
    if (t.size(i - missing) == sizes[i]) strides[i] = t.stride(i - missing);
  }
  return strides;
}

/// The same for a kernel, which never steps along a dim of size 1.
at::DimVector steps(const at::Tensor& t, at::IntArrayRef sizes) {
  at::DimVector strides = expanded_strides(t, sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) strides[i] = 0;
  }
  return strides;
}

/// Whether at::TensorIterator puts `slow` inside of `fast`: 1 yes, -1 no, 0 the operands do not say.
int wrong_order(const std::array<at::DimVector, 2>& operands, at::IntArrayRef sizes, std::size_t slow,
                std::size_t fast) {
  for (const at::DimVector& strides : operands) {
    if (strides[slow] == 0 || strides[fast] == 0) continue;  // broadcast
    if (strides[slow] != strides[fast]) return strides[slow] < strides[fast] ? 1 : -1;
    if (sizes[slow] < sizes[fast]) return 1;
  }
  return 0;
}

/// The dims, slowest first, as at::TensorIterator orders them.
at::DimVector iteration_order(const std::array<at::DimVector, 2>& operands, at::IntArrayRef sizes) {
  const std::size_t rank = sizes.size();
  at::DimVector order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = rank; i-- > 0;) {  // an insertion sort from the fast end
    for (std::size_t at = i, next = i + 1; next < rank; ++next) {
      const int wrong = wrong_order(operands, sizes, order[at], order[next]);
      if (wrong < 0) break;
      if (wrong == 0) continue;
      std::swap(order[at], order[next]);
      at = next;
    }
  }
  return order;
}

/// What at::TensorIterator sees of a tensor on the CPU: a dense copy where it promotes one that is not.
at::Tensor iterated(const at::Tensor& t, at::ScalarType dtype) {
  if (t.scalar_type() == dtype || t.is_non_overlapping_and_dense()) return t;
  return at::empty_strided(t.sizes(), at::infer_dense_strides(t.sizes(), t.strides()),
                           t.options().device(at::kMeta));
}

/// The strides that at::TensorIterator gives the result of tensors of one shape and one layout, where strides
/// along dims of size 1 say nothing; none where it orders dims.
std::optional<at::DimVector> common_layout(const AddArguments& a) {
  if (a.self.sizes() != a.other.sizes()) return std::nullopt;
  const auto both = [&](at::MemoryFormat format) {
    return a.self.is_contiguous(format) && a.other.is_contiguous(format);
  };
  if (both(at::MemoryFormat::Contiguous)) return c10::contiguous_strides(a.self.sizes());
  if (both(at::MemoryFormat::ChannelsLast)) {
    const auto strides = c10::get_channels_last_strides_2d(a.self.sizes());
    return at::DimVector(strides.begin(), strides.end());
  }
  if (a.self.strides() == a.other.strides() && a.self.is_non_overlapping_and_dense())
    return at::DimVector(a.self.strides());
  return std::nullopt;
}

TensorView view(void* data, DType dtype, at::IntArrayRef order, at::IntArrayRef sizes,
                at::IntArrayRef strides) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.rank = static_cast<int>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    view.sizes[i] = sizes[order[i]];
    view.strides[i] = strides[order[i]];
  }
  return view;
}

void* data_of(const at::Tensor& t) {
  return t.is_meta() ? nullptr : const_cast<void*>(t.const_data_ptr());
}

AddOutput iterated_output(const AddArguments& a, at::ScalarType dtype) {
  AddOutput output{dtype, {}, {}};
  if (std::optional<at::DimVector> strides = common_layout(a)) {
    output.sizes = a.self.sizes();
    output.strides = std::move(*strides);
    return output;
  }
  output.sizes = at::infer_size_dimvector(a.self.sizes(), a.other.sizes());
  const std::array operands = {expanded_strides(a.self, output.sizes),
                               expanded_strides(a.other, output.sizes)};
  const at::DimVector order = iteration_order(operands, output.sizes);
  output.strides = c10::contiguous_strides(output.sizes);
  if (std::ranges::is_sorted(order)) return output;
  std::int64_t stride = 1;  // in any other order an empty dim makes the strides of slower ones 0
  for (std::size_t i = order.size(); i-- > 0;) {
    output.strides[order[i]] = stride;
    stride *= output.sizes[order[i]];
  }
  return output;
}

}  // namespace

AddOutput output_of(const AddArguments& a) {
  const at::ScalarType dtype = at::result_type(a.self, a.other);
  if (!a.self.is_cpu() || a.self.scalar_type() == a.other.scalar_type()) return iterated_output(a, dtype);
  const at::Tensor self = iterated(a.self, dtype), other = iterated(a.other, dtype);
  return iterated_output({self, other}, dtype);
}

Call call_of(const AddArguments& a, const AddOutput& output) {
  Call call("add", ops::add());
  if (a.self.device() != a.other.device())
    call.refuse(fmt::format("tensors on {} and {}", a.self.device().str(), a.other.device().str()));
  if (output.sizes.size() > TensorView::kMaxRank) call.refuse("more than 8 dims");
  const DType self = float_dtype_of(a.self.scalar_type(), call),
              other = float_dtype_of(a.other.scalar_type(), call);
  const DType out = float_dtype_of(output.dtype, call);
  if (!call.unsupported().empty()) return call;

  at::DimVector order(output.sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::ranges::stable_sort(order, [&](auto x, auto y) { return output.strides[x] > output.strides[y]; });
  std::array views = {view(data_of(a.self), self, order, output.sizes, steps(a.self, output.sizes)),
                      view(data_of(a.other), other, order, output.sizes, steps(a.other, output.sizes)),
                      view(nullptr, out, order, output.sizes, output.strides)};
  coalesce(views);
  call.tensor(views[0]);
  call.tensor(views[1]);
  call.output(views[2]);
  call.flag("rank", views[0].rank);
  for (int i = 0; i < views[0].rank; ++i) call.dim(kDims[static_cast<std::size_t>(i)], views[0].sizes[i]);
  return call;
}

}  // namespace tessera
