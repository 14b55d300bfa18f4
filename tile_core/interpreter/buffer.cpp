#include "tile_core/interpreter/buffer.h"

#include <algorithm>
#include <utility>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

std::vector<std::int64_t> dense(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  return strides;
}

}  // namespace

Buffer::Buffer(DType dtype, const std::vector<std::int64_t>& sizes) : Buffer(dtype, sizes, dense(sizes)) {}

Buffer::Buffer(DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides)
    : dtype_(dtype), sizes_(std::move(sizes)), strides_(std::move(strides)) {
  if (sizes_.size() != strides_.size() || sizes_.size() > TensorView::kMaxRank) {
    throw InternalError::format("a buffer of {} sizes and {} strides", sizes_.size(), strides_.size());
  }
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    last += std::max<std::int64_t>(sizes_[i] - 1, 0) * strides_[i];
  bytes_.resize(static_cast<std::size_t>(last + 1) * static_cast<std::size_t>(size_of(dtype_)));
}

std::int64_t Buffer::elements() const {
  std::int64_t count = 1;
  for (std::int64_t size : sizes_) count *= size;
  return count;
}

TensorView Buffer::view() {
  TensorView view;
  view.data = bytes_.data();
  view.dtype = dtype_;
  view.rank = static_cast<int>(sizes_.size());
  std::copy(sizes_.begin(), sizes_.end(), view.sizes.begin());
  std::copy(strides_.begin(), strides_.end(), view.strides.begin());
  return view;
}

std::vector<std::int64_t> Buffer::offsets() const {
  std::vector<std::int64_t> result = {0};
  for (std::size_t dim = 0; dim < sizes_.size(); ++dim) {
    std::vector<std::int64_t> next;
    for (std::int64_t offset : result) {
      for (std::int64_t i = 0; i < sizes_[dim]; ++i)
        next.push_back(offset + i * strides_[dim] * size_of(dtype_));
    }
    result = std::move(next);
  }
  return result;
}

std::vector<double> Buffer::get() const {
  std::vector<double> values;
  for (std::int64_t offset : offsets()) values.push_back(load_element(dtype_, bytes_.data() + offset));
  return values;
}

void Buffer::set(const std::vector<double>& values) {
  std::vector<std::int64_t> places = offsets();
  if (places.size() != values.size()) {
    throw InternalError::format("a buffer of {} elements is set to {} values", places.size(), values.size());
  }
  for (std::size_t i = 0; i < places.size(); ++i) store_element(dtype_, bytes_.data() + places[i], values[i]);
}

}  // namespace tessera
