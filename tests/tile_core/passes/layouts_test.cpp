#include "tile_core/passes/layouts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

#include "tile_core/ir/print.h"

namespace tessera {
namespace {

constexpr int kExtents[] = {1, 2, 3, 8, 12, 20, 32, 48, 96, 128, 176};

/// A program with two axes and nothing else.
Program with_axes(int m, int n) {
  Program p;
  p.dims = {{"M"}, {"N"}};
  p.new_axis({.name = "m", .dim = DimId{0}, .extent = m});
  p.new_axis({.name = "n", .dim = DimId{1}, .extent = n});
  return p;
}
constexpr AxisId kM{0}, kN{1};

/// Every thread of the block holds something, and every element is held as often as any other.
void covers(const Program& p, const Layout& layout, int warps) {
  SCOPED_TRACE(to_text(p, layout));
  EXPECT_EQ(layout.count(Place::lane), kLanes);
  EXPECT_EQ(layout.count(Place::warp), warps);
  std::map<std::pair<int, int>, int> held;
  for (int warp = 0; warp < warps; ++warp) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int reg = 0; reg < layout.count(Place::reg); ++reg) {
        auto at = [&](AxisId axis) {
          return layout.coordinate(Place::reg, reg, axis) + layout.coordinate(Place::lane, lane, axis) +
                 layout.coordinate(Place::warp, warp, axis);
        };
        ++held[{at(kM), at(kN)}];
      }
    }
  }
  int elements = p.axis(kM).extent * p.axis(kN).extent;
  ASSERT_EQ(held.size(), static_cast<std::size_t>(elements));
  for (auto [element, times] : held) ASSERT_EQ(times, warps * kLanes * layout.count(Place::reg) / elements);
}

TEST(Layouts, CoverTheirTiles) {
  for (int m : kExtents) {
    for (int n : kExtents) {
      Program p = with_axes(m, n);
      for (int warps : {1, 4, 8}) {
        covers(p, dot_layout(p, {kM}, {kN}, warps, 1), warps);
        covers(p, dot_layout(p, {kM}, {kN}, warps, 4), warps);
        covers(p, dot_layout(p, {}, {kM, kN}, warps, 1), warps);
        covers(p, access_layout(p, {kM, kN}, kN, 8, warps), warps);
        covers(p, access_layout(p, {kM, kN}, kM, 4, warps), warps);
        covers(p, access_layout(p, {kM, kN}, AxisId::none, 1, warps), warps);
      }
    }
  }
}

TEST(Layouts, AccessesAreAsWideAsTheyMayBe) {
  for (int n : kExtents) {
    Program p = with_axes(16, n);
    for (int vector : {1, 2, 4, 8}) {
      Layout layout = access_layout(p, {kM, kN}, kN, vector, 4);
      int width = 1;
      while (width * 2 <= vector && n % (width * 2) == 0) width *= 2;
      for (int reg = 0; reg < width; ++reg) EXPECT_EQ(layout.coordinate(Place::reg, reg, kN), reg);
      bool more = n / width % 2 == 0;
      EXPECT_EQ(layout.coordinate(Place::lane, 1, kN), more ? width : 0);
    }
  }
}

TEST(Layouts, WarpsGrowWithTheTile) {
  EXPECT_EQ(warps_for(1), 1);
  EXPECT_EQ(warps_for(4095), 1);
  EXPECT_EQ(warps_for(4096), 2);
  EXPECT_EQ(warps_for(64 * 128), 4);
  EXPECT_EQ(warps_for(128 * 128), 8);
  EXPECT_EQ(warps_for(1 << 30), 8);
}

}  // namespace
}  // namespace tessera
