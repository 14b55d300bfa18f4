#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tile_core/base/dtype.h"
#include "tile_core/ir/layout.h"

namespace tessera {

enum class ValueId : std::int32_t { none = -1 };
enum class DimId : std::int32_t {};
enum class TensorId : std::int32_t {};
enum class ScalarId : std::int32_t {};

template <typename Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

/// Where a tile lives. `anywhere` until place_tiles has decided.
enum class Space : std::uint8_t { anywhere, registers, shared };

/// The type of a value: a tile (a scalar where it has no axes), or a channel: `slots` tiles in shared memory.
/// Space and layout are attributes that passes add; they are no part of the mathematics.
struct Type {
  DType dtype = f32;
  std::vector<AxisId> axes;
  Space space = Space::anywhere;
  int slots = 0;  ///< of a channel; 0: this is a tile
  /// The result of an issued dot that no wait covers: only dots and back edges take it. A loop that carries
  /// one may be entered, and an iteration ended, with a tile.
  bool pending = false;
  Layout layout;  ///< of a tile in registers, from Stage::laid_out on

  bool operator==(const Type&) const = default;
  bool is_channel() const { return slots > 0; }
  bool has(AxisId axis) const;
};

/// Whether two lists of axes are the same set.
inline bool same_axes(const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace tessera
