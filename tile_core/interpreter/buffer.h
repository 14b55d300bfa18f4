#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tile_core/base/tensor_view.h"

namespace tessera {

/// A tensor on the host that owns its memory, zeros at first. Sizes and strides in elements.
class Buffer {
 public:
  /// Dense, the last dim fastest.
  Buffer(DType dtype, const std::vector<std::int64_t>& sizes);
  /// With strides of its own, none negative; 0 repeats a dim.
  Buffer(DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  std::int64_t elements() const;
  TensorView view();

  /// All elements in order of their coordinates, the last dim fastest; set() rounds to the dtype.
  std::vector<double> get() const;
  void set(const std::vector<double>& values);

 private:
  std::vector<std::int64_t> offsets() const;  // in bytes, of all elements

  DType dtype_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  std::vector<std::byte> bytes_;
};

}  // namespace tessera
