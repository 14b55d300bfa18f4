#include "tile_core/ir/layout.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tile_core/ir/warpgroup_layout.h"

namespace tessera {
namespace {

constexpr AxisId kM{0}, kN{1}, kK{2};
constexpr Place kPlaces[] = {Place::reg, Place::lane, Place::warp};

/// A list of digits as written, and the extents that it covers.
struct Sample {
  const char* name;
  std::vector<Repeat> repeats;
  std::map<AxisId, int> extents;
};
void PrintTo(const Sample& s, std::ostream* out) {
  *out << s.name;
}

const Sample kSamples[] = {
    {"nothing", {}, {}},
    {"registers", {{Place::reg, kM, 6, 1}}, {{kM, 6}}},
    {"interleaved",
     {{Place::reg, kN, 4, 1},
      {Place::lane, kN, 8, 4},
      {Place::lane, kM, 4, 1},
      {Place::warp, kM, 2, 4},
      {Place::reg, kM, 3, 8}},
     {{kM, 24}, {kN, 32}}},
    {"not_powers_of_two",
     {{Place::lane, kN, 22, 1}, {Place::reg, kN, 8, 22}, {Place::reg, kM, 5, 1}, {Place::warp, kM, 3, 5}},
     {{kM, 15}, {kN, 176}}},
    {"replicated",
     {{Place::reg, kM, 2, 1},
      {Place::lane, AxisId::none, 4, 0},
      {Place::lane, kM, 8, 2},
      {Place::warp, AxisId::none, 4, 0}},
     {{kM, 16}}},
    {"split_digits",
     {{Place::reg, kM, 2, 1},
      {Place::reg, kN, 2, 1},
      {Place::reg, kM, 2, 2},
      {Place::reg, kN, 3, 2},
      {Place::lane, kM, 4, 4},
      {Place::lane, kM, 2, 16}},
     {{kM, 32}, {kN, 6}}},
    {"three_axes",
     {{Place::reg, kK, 2, 1},
      {Place::lane, kK, 2, 2},
      {Place::lane, kN, 8, 1},
      {Place::reg, kN, 2, 8},
      {Place::warp, kM, 2, 1},
      {Place::reg, kM, 3, 2}},
     {{kM, 6}, {kN, 16}, {kK, 4}}},
};

class LayoutOf : public ::testing::TestWithParam<Sample> {};
INSTANTIATE_TEST_SUITE_P(Samples, LayoutOf, ::testing::ValuesIn(kSamples),
                         [](const auto& info) { return info.param.name; });

using Coordinates = std::map<AxisId, int>;

/// Where one index of a place stands, counted up digit by digit from the list as written.
std::vector<Coordinates> enumerated(const Sample& s, Place place) {
  std::vector<Coordinates> all = {{}};
  for (const Repeat& r : s.repeats) {
    if (r.place != place) continue;
    std::vector<Coordinates> next;
    for (int digit = 0; digit < r.count; ++digit) {
      for (Coordinates c : all) {
        if (r.axis != AxisId::none) c[r.axis] += digit * r.stride;
        next.push_back(std::move(c));
      }
    }
    all = std::move(next);
  }
  return all;
}

TEST_P(LayoutOf, IndicesStandWhereTheirDigitsSay) {
  Layout layout(GetParam().repeats);
  for (Place place : kPlaces) {
    std::vector<Coordinates> expected = enumerated(GetParam(), place);
    ASSERT_EQ(layout.count(place), static_cast<int>(expected.size()));
    for (int i = 0; i < layout.count(place); ++i) {
      for (auto [axis, extent] : GetParam().extents) {
        EXPECT_EQ(layout.coordinate(place, i, axis), expected[static_cast<std::size_t>(i)][axis]);
      }
    }
  }
  for (auto [axis, extent] : GetParam().extents) EXPECT_EQ(layout.extent(axis), extent);
}

Coordinates coordinates(const Layout& layout, const Sample& s, int reg, int lane, int warp) {
  Coordinates c;
  for (auto [axis, extent] : s.extents) {
    c[axis] = layout.coordinate(Place::reg, reg, axis) + layout.coordinate(Place::lane, lane, axis) +
              layout.coordinate(Place::warp, warp, axis);
  }
  return c;
}

template <typename Visit>
void for_each_register(const Layout& layout, const Visit& visit) {
  for (int warp = 0; warp < layout.count(Place::warp); ++warp) {
    for (int lane = 0; lane < layout.count(Place::lane); ++lane) {
      for (int reg = 0; reg < layout.count(Place::reg); ++reg) visit(reg, lane, warp);
    }
  }
}

TEST_P(LayoutOf, EveryElementIsHeldAsOftenAsAnyOther) {
  Layout layout(GetParam().repeats);
  std::map<Coordinates, int> held;
  int registers = 0;
  for_each_register(layout, [&](int reg, int lane, int warp) {
    ++held[coordinates(layout, GetParam(), reg, lane, warp)];
    ++registers;
  });
  int elements = 1;
  for (auto [axis, extent] : GetParam().extents) elements *= extent;
  ASSERT_EQ(held.size(), static_cast<std::size_t>(elements));
  for (const auto& [c, times] : held) EXPECT_EQ(times * elements, registers);
}

TEST_P(LayoutOf, TheSameDigitsInOtherPiecesAreTheSameLayout) {
  std::vector<Repeat> pieces;
  for (Repeat r : GetParam().repeats) {
    pieces.push_back({r.place, r.axis, 1, 7});
    for (int factor : {2, 3, 5, 11}) {
      while (r.count % factor == 0) {
        pieces.push_back({r.place, r.axis, factor, r.stride});
        r.count /= factor;
        r.stride *= factor;
      }
    }
  }
  EXPECT_EQ(Layout(pieces), Layout(GetParam().repeats));
}

TEST_P(LayoutOf, WithoutAnAxisThreadsHoldWhatIsLeft) {
  Layout layout(GetParam().repeats);
  for (auto [dropped, extent] : GetParam().extents) {
    Layout less = layout.drop(dropped);
    EXPECT_EQ(less.extent(dropped), 1);
    EXPECT_EQ(less.count(Place::lane), layout.count(Place::lane));
    EXPECT_EQ(less.count(Place::warp), layout.count(Place::warp));
    EXPECT_EQ(less.count(Place::reg) * layout.count(Place::reg, dropped), layout.count(Place::reg));
    std::map<std::pair<int, int>, std::set<Coordinates>> expected, held;  // by lane and warp
    for_each_register(layout, [&](int reg, int lane, int warp) {
      Coordinates c = coordinates(layout, GetParam(), reg, lane, warp);
      c[dropped] = 0;
      expected[{lane, warp}].insert(c);
    });
    for_each_register(less, [&](int reg, int lane, int warp) {
      held[{lane, warp}].insert(coordinates(less, GetParam(), reg, lane, warp));
    });
    EXPECT_EQ(held, expected);
  }
}

TEST_P(LayoutOf, RestrictedToAxesTheOthersAreDropped) {
  Layout layout(GetParam().repeats);
  EXPECT_EQ(layout.restrict_to({kM, kN, kK}), layout);
  EXPECT_EQ(layout.restrict_to({kN}), layout.drop(kM).drop(kK));
  EXPECT_EQ(layout.restrict_to({}), layout.drop(kN).drop(kK).drop(kM));
  EXPECT_EQ(layout.restrict_to({}).count(Place::reg), 1);
}

TEST_P(LayoutOf, RenamedAxesStandWhereTheyStood) {
  constexpr AxisId kOther{9};
  Layout layout(GetParam().repeats);
  Layout renamed = layout.rename(kM, kOther);
  EXPECT_EQ(renamed.extent(kM), 1);
  EXPECT_EQ(renamed.rename(kOther, kM), layout);
  for (Place place : kPlaces) {
    for (int i = 0; i < layout.count(place); ++i) {
      EXPECT_EQ(renamed.coordinate(place, i, kOther), layout.coordinate(place, i, kM));
    }
  }
}

TEST(Layout, MergesDigitsThatContinueEachOther) {
  EXPECT_EQ(Layout({{Place::reg, kM, 2, 1}, {Place::reg, kM, 4, 2}}).repeats(),
            (std::vector<Repeat>{{Place::reg, kM, 8, 1}}));
  EXPECT_EQ(Layout({{Place::reg, kM, 2, 1}, {Place::reg, kM, 4, 4}}).repeats().size(), 2);
  EXPECT_EQ(Layout({{Place::warp, kM, 2, 1}, {Place::reg, kM, 4, 2}}).repeats(),
            (std::vector<Repeat>{{Place::reg, kM, 4, 2}, {Place::warp, kM, 2, 1}}));
  EXPECT_TRUE(Layout({{Place::lane, kM, 1, 5}}).empty());
}

/// [m:128, n:32] of a warpgroup, two instructions of 64 rows.
Layout accumulators() {
  Program p;
  AxisId m = p.new_axis({.name = "m", .extent = 128}), n = p.new_axis({.name = "n", .extent = 32});
  return warpgroup_layout(p, m, n).rename(n, kN).rename(m, kM);
}

TEST(WarpgroupLayout, IsThatOfTheInstruction) {
  Layout layout = accumulators();
  EXPECT_EQ(layout.count(Place::reg), 32);
  EXPECT_EQ(layout.count(Place::lane), 32);
  EXPECT_EQ(layout.count(Place::warp), 4);
  auto at = [&](int reg, int lane, int warp) {
    return std::pair(layout.coordinate(Place::reg, reg, kM) + layout.coordinate(Place::lane, lane, kM) +
                         layout.coordinate(Place::warp, warp, kM),
                     layout.coordinate(Place::reg, reg, kN) + layout.coordinate(Place::lane, lane, kN));
  };
  EXPECT_EQ(at(0, 0, 0), std::pair(0, 0));
  EXPECT_EQ(at(1, 0, 0), std::pair(0, 1));
  EXPECT_EQ(at(2, 0, 0), std::pair(8, 0));
  EXPECT_EQ(at(4, 0, 0), std::pair(0, 8));
  EXPECT_EQ(at(16, 0, 0), std::pair(64, 0));  // the next 64 rows
  EXPECT_EQ(at(0, 3, 0), std::pair(0, 6));
  EXPECT_EQ(at(0, 4, 0), std::pair(1, 0));
  EXPECT_EQ(at(31, 31, 3), std::pair(64 + 48 + 15, 31));
}

TEST(Layout, SlicesAreRegistersOfTheSameThreads) {
  constexpr AxisId kSlice{9};
  Layout layout = accumulators();
  Layout columns = layout.slice(kN, kSlice, 16);
  EXPECT_EQ(columns.extent(kSlice), 16);
  EXPECT_EQ(columns.count(Place::reg), 16);
  EXPECT_EQ(columns.repeats().front(), (Repeat{Place::reg, kSlice, 2, 1}));
  EXPECT_EQ(layout.slice(kN, kSlice, 32), layout.rename(kN, kSlice));
  EXPECT_EQ(layout.slice(kM, kSlice, 64).count(Place::reg), 16);
  EXPECT_TRUE(layout.slice(kM, kSlice, 32).empty());  // two warps hold the others
  EXPECT_TRUE(layout.slice(kN, kSlice, 4).empty());   // as do lanes
  Layout merged({{Place::reg, kN, 12, 1}, {Place::lane, kM, 32, 1}});
  EXPECT_EQ(merged.slice(kN, kSlice, 4), Layout({{Place::reg, kSlice, 4, 1}, {Place::lane, kM, 32, 1}}));
  EXPECT_TRUE(merged.slice(kN, kSlice, 5).empty());  // 12 is no multiple
}

}  // namespace
}  // namespace tessera
