#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera {

inline constexpr int kLanes = 32;  ///< of a warp

enum class AxisId : std::int32_t { none = -1 };

/// Where an element of a tile in registers is held: register of a thread, lane of a warp, warp of the block.
enum class Place : std::uint8_t { reg, lane, warp };

/// One digit of a place's index: it takes `count` values, each a step of `stride` lanes along `axis`. A digit
/// of lanes or warps with axis `none` replicates the tile.
struct Repeat {
  Place place = Place::reg;
  AxisId axis = AxisId::none;
  int count = 1;
  int stride = 1;
  bool operator==(const Repeat&) const = default;
};

/// How the elements of a tile are spread over the threads of a block. The digits of each place stand in
/// order, the fastest first; counts need not be powers of two. Register r of lane l of warp w holds the
/// element whose coordinate along an axis is the sum of digit * stride over that axis' repeats.
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::vector<Repeat> repeats);

  const std::vector<Repeat>& repeats() const { return repeats_; }
  bool empty() const { return repeats_.empty(); }
  bool operator==(const Layout&) const = default;

  /// The number of values of a place's index: registers per thread, lanes, warps.
  int count(Place place) const;
  /// The number of elements along an axis.
  int extent(AxisId axis) const;
  /// The coordinate along `axis` of what index `i` of `place` contributes.
  int coordinate(Place place, int i, AxisId axis) const;
  /// The number of values of `place`'s digits that lie along `axis`.
  int count(Place place, AxisId axis) const;

  /// The layout of a tile without `axis`: its registers go, its lanes and warps replicate.
  Layout drop(AxisId axis) const;
  /// The layout of a tile that has only `axes`.
  Layout restrict_to(const std::vector<AxisId>& axes) const;
  /// The layout with one axis named otherwise.
  Layout rename(AxisId from, AxisId to) const;
  /// The layout of a tile's lanes index * extent, ... of axis `of`, seen as axis `to`: registers go, threads
  /// stay. Empty where other threads hold other slices.
  Layout slice(AxisId of, AxisId to, int extent) const;

 private:
  std::vector<Repeat> repeats_;  // no repeat of count 1; neighbours that continue each other are merged
};

}  // namespace tessera
