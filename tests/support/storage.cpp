#include "tests/support/storage.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tile_core/target/bulk.h"

namespace tessera::test {
namespace {

constexpr std::byte kGap{0xff};
constexpr std::int64_t kAlignment = 16;

/// Strides of the arrangement; returns the number of elements that they span.
std::int64_t arrange(TensorView& view, Arrangement arrangement) {
  auto rank = static_cast<std::size_t>(view.rank);
  std::int64_t next = arrangement == Arrangement::spread ? 2 : 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::size_t dim = arrangement == Arrangement::reversed ? i : rank - 1 - i;
    view.strides[dim] = next;
    next *= std::max<std::int64_t>(view.sizes[dim], 1);
    if (i == 0 && arrangement == Arrangement::padded) ++next;
  }
  return next;
}

}  // namespace

const char* name_of(Arrangement arrangement) {
  constexpr std::array kNames = {"dense", "shifted", "padded", "spread", "reversed"};
  return kNames.at(static_cast<std::size_t>(arrangement));
}

Storage::Storage(Buffer& values, Arrangement arrangement) : view_(values.view()) {
  std::int64_t size = size_of(view_.dtype);
  std::int64_t bytes = arrange(view_, arrangement) * size;
  memory_.assign(static_cast<std::size_t>(bytes + 2 * kAlignment), kGap);
  auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  std::size_t start = (kAlignment - address % kAlignment) % kAlignment;
  if (arrangement == Arrangement::shifted) start += static_cast<std::size_t>(size);
  view_.data = memory_.data() + start;
  std::vector<double> elements = values.get();
  std::vector<std::int64_t> places = offsets();
  for (std::size_t i = 0; i < places.size(); ++i)
    store_element(view_.dtype, static_cast<std::byte*>(view_.data) + places[i], elements[i]);
}

std::vector<std::int64_t> Storage::offsets() const {
  std::vector<std::int64_t> result = {0};
  for (std::size_t dim = 0; dim < static_cast<std::size_t>(view_.rank); ++dim) {
    std::vector<std::int64_t> next;
    for (std::int64_t offset : result) {
      for (std::int64_t i = 0; i < view_.sizes[dim]; ++i)
        next.push_back(offset + i * view_.strides[dim] * size_of(view_.dtype));
    }
    result = std::move(next);
  }
  return result;
}

std::vector<double> Storage::get() const {
  std::vector<double> values;
  for (std::int64_t offset : offsets())
    values.push_back(load_element(view_.dtype, static_cast<const std::byte*>(view_.data) + offset));
  return values;
}

bool Storage::gaps_are_untouched() const {
  std::vector<std::byte> gaps = memory_;
  std::ptrdiff_t start = static_cast<const std::byte*>(view_.data) - memory_.data();
  for (std::int64_t offset : offsets())
    std::fill_n(gaps.begin() + start + offset, size_of(view_.dtype), kGap);
  return std::all_of(gaps.begin(), gaps.end(), [](std::byte b) { return b == kGap; });
}

TensorFacts facts_of(const TensorView& tensor) {
  TensorFacts facts{.dtype = tensor.dtype};
  auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(tensor.data));
  for (int dim = 0; dim < tensor.rank; ++dim) {
    if (tensor.strides[static_cast<std::size_t>(dim)] == 1) facts.contiguous_dim = dim;
  }
  for (int dim = 0; dim < tensor.rank; ++dim) {
    auto i = static_cast<std::size_t>(dim);
    bits |= (dim == facts.contiguous_dim ? tensor.sizes[i] : tensor.strides[i]) * size_of(tensor.dtype);
  }
  std::int64_t lowest = bits & -bits;
  facts.alignment = static_cast<int>(lowest == 0 ? kAlignment : std::min(lowest, kAlignment));
  bool aligned = facts.contiguous_dim >= 0 && facts.alignment == kAlignment;
  facts.bulk = !aligned || why_not_bulk(tensor, facts.contiguous_dim).empty();
  return facts;
}

}  // namespace tessera::test
