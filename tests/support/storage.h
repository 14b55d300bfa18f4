#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "tile_core/interpreter/buffer.h"
#include "tile_core/target/facts.h"

namespace tessera::test {

/// How a tensor lies in memory.
enum class Arrangement {
  dense,
  shifted,   ///< dense, one element after an address that 16 divides
  padded,    ///< rows, and all that is slower, one element farther apart
  spread,    ///< every stride doubled: none is 1
  reversed,  ///< the first dim fastest
};
inline constexpr std::array kArrangements = {Arrangement::dense, Arrangement::shifted, Arrangement::padded,
                                             Arrangement::spread, Arrangement::reversed};
const char* name_of(Arrangement arrangement);

/// The elements of a tensor in memory of any arrangement. Bytes that belong to no element are 0xff.
class Storage {
 public:
  Storage(Buffer& values, Arrangement arrangement);

  const TensorView& view() const { return view_; }
  /// All elements in order of their coordinates, the last dim fastest.
  std::vector<double> get() const;
  /// Whether the bytes that belong to no element are still 0xff.
  bool gaps_are_untouched() const;

 private:
  std::vector<std::int64_t> offsets() const;  // of the elements from the view's data, in bytes

  std::vector<std::byte> memory_;
  TensorView view_;
};

/// What a kernel may be specialised on for this tensor.
TensorFacts facts_of(const TensorView& tensor);

}  // namespace tessera::test
