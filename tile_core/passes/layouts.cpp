#include "tile_core/passes/layouts.h"

#include <algorithm>
#include <map>

namespace tessera {
namespace {

constexpr int kMaxWarps = 8;

/// The largest power of two that divides n and is at most limit.
int power_of_two(int n, int limit) {
  int result = 1;
  while (result * 2 <= limit && n % (result * 2) == 0) result *= 2;
  return result;
}

/// Hands out an axis' elements digit by digit, the fastest first.
class Digits {
 public:
  explicit Digits(const Program& program) : program_(program) {}

  int rest(AxisId axis) const {
    return program_.axis(axis).extent / taken(axis) / (axis == kept_ ? parts_ : 1);
  }

  /// Leaves equal parts of an axis for the warps.
  void keep(AxisId axis, int parts) {
    kept_ = axis;
    parts_ = parts;
  }

  void take(Place place, AxisId axis, int count) {
    repeats_.push_back({place, axis, count, taken(axis)});
    taken_[axis] = taken(axis) * count;
  }

  /// Gives up to `limit` values of a place to the axes, the last axis first; returns how many it gave.
  int spread(Place place, const std::vector<AxisId>& axes, int limit) {
    int given = 1;
    for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
      int count = power_of_two(rest(*it), limit / given);
      if (count > 1) take(place, *it, count);
      given *= count;
    }
    return given;
  }

  void replicate(Place place, int count) {
    if (count > 1) repeats_.push_back({place, AxisId::none, count, 0});
  }

  /// What is left stays in each thread's registers, but what is kept is the warps'.
  Layout finish(const std::vector<AxisId>& axes) {
    for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
      if (rest(*it) > 1) take(Place::reg, *it, rest(*it));
    }
    if (kept_ != AxisId::none) take(Place::warp, kept_, parts_);
    return Layout(std::move(repeats_));
  }

 private:
  int taken(AxisId axis) const {
    auto it = taken_.find(axis);
    return it == taken_.end() ? 1 : it->second;
  }

  const Program& program_;
  std::vector<Repeat> repeats_;
  std::map<AxisId, int> taken_;
  AxisId kept_ = AxisId::none;
  int parts_ = 1;
};

std::vector<AxisId> joined(std::vector<AxisId> a, const std::vector<AxisId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

int warps_for(std::int64_t elements) {
  constexpr int kElementsPerThread = 64;
  int warps = 1;
  while (warps < kMaxWarps && elements >= std::int64_t{2} * warps * kLanes * kElementsPerThread) warps *= 2;
  return warps;
}

Layout dot_layout(const Program& program, const std::vector<AxisId>& rows, const std::vector<AxisId>& columns,
                  int warps, int column_vector) {
  constexpr int kColumnLanes = 16;
  Digits digits(program);
  if (!columns.empty() && column_vector > 1) {
    digits.take(Place::reg, columns.back(), power_of_two(digits.rest(columns.back()), column_vector));
  }
  int lanes = digits.spread(Place::lane, columns, kColumnLanes);
  lanes *= digits.spread(Place::lane, rows, kLanes / lanes);
  lanes *= digits.spread(Place::lane, columns, kLanes / lanes);
  digits.replicate(Place::lane, kLanes / lanes);
  int given = digits.spread(Place::warp, rows, warps);
  given *= digits.spread(Place::warp, columns, warps / given);
  digits.replicate(Place::warp, warps / given);
  return digits.finish(joined(rows, columns));
}

Layout wgmma_layout(const Program& program, AxisId rows, AxisId columns, int row_groups) {
  int of_group = program.axis(rows).extent / row_groups;
  return Layout({{Place::reg, columns, 2, 1},
                 {Place::reg, rows, 2, 8},
                 {Place::reg, columns, program.axis(columns).extent / 8, 8},
                 {Place::reg, rows, of_group / kDotRows, kDotRows},
                 {Place::lane, columns, 4, 2},
                 {Place::lane, rows, 8, 1},
                 {Place::warp, rows, 4, 16},
                 {Place::warp, rows, row_groups, of_group}});
}

Layout access_layout(const Program& program, const std::vector<AxisId>& axes, AxisId contiguous, int vector,
                     int warps) {
  Digits digits(program);
  std::vector<AxisId> others = axes;
  std::vector<AxisId> along;
  if (contiguous != AxisId::none) {
    std::erase(others, contiguous);
    along = {contiguous};
    int width = power_of_two(digits.rest(contiguous), vector);
    if (width > 1) digits.take(Place::reg, contiguous, width);
  }
  int lanes = digits.spread(Place::lane, along, kLanes);
  lanes *= digits.spread(Place::lane, others, kLanes / lanes);
  digits.replicate(Place::lane, kLanes / lanes);
  int given = digits.spread(Place::warp, others, warps);
  given *= digits.spread(Place::warp, along, warps / given);
  digits.replicate(Place::warp, warps / given);
  return digits.finish(joined(others, along));
}

Layout layout_beside_wgmma(const Program& program, const std::vector<AxisId>& axes, AxisId contiguous,
                           int vector, const DotAxes& dot, int row_groups) {
  constexpr int kColumnStep = 8;
  std::vector<AxisId> others = axes;
  const bool has_rows = std::erase(others, dot.rows) > 0;
  std::erase_if(others, [&](AxisId axis) { return program.axis(axis).extent == 1; });
  const AxisId columns = others.empty() ? dot.columns : others.front();
  if (others.size() <= 1 && program.axis(columns).extent % kColumnStep == 0)
    return wgmma_layout(program, dot.rows, columns, row_groups).restrict_to(axes);
  Digits digits(program);
  if (has_rows) digits.keep(dot.rows, kGroupWarps * row_groups);
  if (contiguous != AxisId::none) {
    const int width = power_of_two(digits.rest(contiguous), vector);
    if (width > 1) digits.take(Place::reg, contiguous, width);
  }
  const int lanes = digits.spread(Place::lane, axes, kLanes);
  digits.replicate(Place::lane, kLanes / lanes);
  if (!has_rows) digits.replicate(Place::warp, kGroupWarps * row_groups);
  return digits.finish(axes);
}

}  // namespace tessera
