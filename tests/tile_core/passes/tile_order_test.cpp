#include "tile_core/passes/tile_order.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/cases.h"
#include "tests/tile_core/passes/visits.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/print.h"

namespace tessera {
namespace {

using namespace dsl;
using test::Sizes;
using test::Visit;

PassContext context_of(const Program& p, Schedule schedule = {}) {
  PassContext context{{}, schedule, Target::named("sm_90a")};
  for (const TensorDecl& tensor : p.tensors) {
    const int last = static_cast<int>(tensor.dims.size()) - 1;
    context.facts.tensors.push_back({.dtype = tensor.dtype, .contiguous_dim = last, .alignment = 16});
  }
  return context;
}

Program mapped(const Program& p, Schedule schedule = {}) {
  PassContext context = context_of(p, schedule);
  return map_grid(simplify(p, context), context);
}

enum class Shape { grows, shrinks };

/// The loop's range: a triangle of the rows and the contracted dim.
std::pair<Tile, Tile> range(Builder& p, Shape shape, const Axis& rows, const Dim& contracted) {
  Tile zero = p.full(i64, {}, 0), all = cast(i64, contracted);
  return shape == Shape::grows ? std::pair{zero, rows.end()} : std::pair{rows.start(), all};
}

/// A product of a triangle with a matrix; the unequal axis stands between two others.
Program triangle(Shape shape) {
  Builder p("triangle");
  Dim H = p.dim("H"), I = p.dim("I"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {H, I, K}), b = p.in("b", bf16, {H, N, K});
  Out out = p.out("out", f32, {H, I, N});
  Tile h = p.grid(H);
  Axis i = p.grid(I, 64), n = p.grid(N, 64);
  auto [begin, end] = range(p, shape, i, K);
  Var acc = p.zeros(f32, {i, n});
  for (Axis k : p.pipelined(K, 64, begin, end)) acc += dot(a(h, i, k), b(h, n, k), k);
  out(h, i, n) = acc;
  return p.finish();
}

/// The same with no other axis.
Program lone_triangle(Shape shape) {
  Builder p("lone_triangle");
  Dim I = p.dim("I"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {I, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", f32, {I, N});
  Axis i = p.grid(I, 64), n = p.all(N, 64);
  auto [begin, end] = range(p, shape, i, K);
  Var acc = p.zeros(f32, {i, n});
  for (Axis k : p.pipelined(K, 64, begin, end)) acc += dot(a(i, k), b(n, k), k);
  out(i, n) = acc;
  return p.finish();
}

Program causal_attention() {
  return test::named_case("roles_attention_causal").program;
}

Sizes attention_sizes(std::int64_t heads, std::int64_t length, std::int64_t depth, std::int64_t group = 1) {
  return {{{"B", 2},
           {"H", heads / 2},
           {"G", heads / 2 / group},
           {"I", length},
           {"J", length},
           {"D", depth},
           {"E", depth}},
          {{"diagonal", 0}, {"group", group}}};
}

/// As many as the grid has, each once.
void expect_every_tile_once(const Program& p, const Sizes& sizes, std::int64_t blocks) {
  std::vector<std::vector<std::int64_t>> seen;
  for (const auto& of_block : test::visits(p, sizes, blocks)) {
    for (const Visit& visit : of_block) seen.push_back(visit.tile);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < p.grid.size(); ++axis) {
    const AxisInfo& info = p.axis(p.grid[axis]);
    const std::int64_t size = sizes.dims.at(p.dim(info.dim).name);
    const std::int64_t tiles = (size + info.extent - 1) / info.extent;
    count *= tiles;
    for (const auto& tile : seen) {
      ASSERT_GE(tile[axis], 0);
      ASSERT_LT(tile[axis], tiles);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
}

class TileOrderOf : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, TileOrderOf, ::testing::Values(Shape::grows, Shape::shrinks),
                         [](const auto& info) { return info.param == Shape::grows ? "grows" : "shrinks"; });

TEST_P(TileOrderOf, VisitsEveryTileOnce) {
  const Program p = mapped(triangle(GetParam()));
  for (std::int64_t blocks : {1, 2, 3, 5, 8, 13, 132}) {
    for (std::int64_t rows : {1, 2, 3, 7}) {
      for (std::int64_t columns : {1, 3, 4}) {
        for (std::int64_t depth : {1 << 21, 1 << 17, 1 << 16, 64}) {  // sections of 1, 2, 4, all columns
          const Sizes sizes{{{"H", 3}, {"I", 64 * rows}, {"N", 64 * columns - 1}, {"K", depth}}, {}};
          expect_every_tile_once(p, sizes, blocks);
        }
      }
    }
  }
}

TEST_P(TileOrderOf, VisitsEveryTileOfOneAxisOnce) {
  const Program p = mapped(lone_triangle(GetParam()));
  for (std::int64_t blocks : {1, 2, 3, 8}) {
    for (std::int64_t rows : {1, 2, 7, 8, 9, 25})
      expect_every_tile_once(p, {{{"I", 64 * rows}, {"N", 64}, {"K", 64 * rows}}, {}}, blocks);
  }
}

TEST(TileOrder, VisitsEveryTileOfAttentionOnce) {
  const Program p = mapped(causal_attention());
  for (std::int64_t heads : {2, 6, 34}) {
    for (std::int64_t length : {1, 128, 1000, 8192}) {
      for (std::int64_t blocks : {1, 78, 132})
        expect_every_tile_once(p, attention_sizes(heads, length, 128), blocks);
    }
  }
}

/// The work of the block that has most and of the one that has least, in trips with one more for each tile.
struct Spread {
  double most = 0, least = 0, mean = 0, longest = 0;
};
Spread spread_of(const Program& p, const Sizes& sizes, std::int64_t blocks) {
  std::vector<double> sums;
  Spread spread;
  for (const auto& of_block : test::visits(p, sizes, blocks)) {
    sums.push_back(0);
    for (const Visit& visit : of_block) {
      const double work = static_cast<double>(visit.trips) + 1;
      sums.back() += work;
      spread.longest = std::max(spread.longest, work);
    }
  }
  spread.most = *std::max_element(sums.begin(), sums.end());
  spread.least = *std::min_element(sums.begin(), sums.end());
  spread.mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(blocks);
  return spread;
}

TEST_P(TileOrderOf, BlocksOfOneSectionDifferByLessThanATile) {
  const Program p = mapped(triangle(GetParam()));
  for (std::int64_t blocks : {2, 7, 16, 33}) {
    for (std::int64_t rows : {8, 31, 64}) {
      const Sizes sizes{{{"H", 2}, {"I", 64 * rows}, {"N", 64 * 5}, {"K", 64 * rows}}, {}};
      const Spread spread = spread_of(p, sizes, blocks);
      EXPECT_LT(spread.most - spread.least, spread.longest) << blocks << " blocks, " << rows << " rows";
    }
  }
}

TEST(TileOrder, BalancesCausalAttentionOverSections) {
  const Program p = mapped(causal_attention()),
                plain = mapped(causal_attention(), {.order = TileOrder::plain});
  for (std::int64_t length : {1024, 2048, 4096, 8192, 16384}) {
    for (std::int64_t depth : {64, 128}) {
      const Sizes sizes = attention_sizes(16384 / length * 2048 / depth, length, depth);
      const Spread spread = spread_of(p, sizes, 132), before = spread_of(plain, sizes, 132);
      EXPECT_LE(spread.most, 1.04 * spread.mean) << length << " " << depth;
      EXPECT_LE(spread.most, before.most) << length << " " << depth;
    }
  }
}

/// Every section from the longest to the shortest, with nothing turned: who is free takes the next.
TEST(TileOrder, OfDrawnTilesBeginsEverySectionWithTheLongest) {
  const Program p = mapped(causal_attention(), {.grid = Grid::counter});
  EXPECT_TRUE(p.launch.counter);
  const Sizes sizes = attention_sizes(64, 8192, 128);
  expect_every_tile_once(p, sizes, 132);
  const std::vector<Visit> all = test::visits(p, sizes, 1).front();
  const std::size_t columns = 8, rows = 64;
  ASSERT_EQ(all.size(), 2 * 32 * rows);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (i % (columns * rows) == 0) {
      EXPECT_EQ(all[i].trips, all.front().trips) << "a section begins";
    } else {
      EXPECT_LE(all[i].trips, all[i - 1].trips) << i;
    }
  }
}

TEST_P(TileOrderOf, OfDrawnTilesOfOneAxisGoesFromTheLongestToTheShortest) {
  const Program p = mapped(lone_triangle(GetParam()), {.grid = Grid::counter});
  const Sizes sizes{{{"I", 64 * 25}, {"N", 64}, {"K", 64 * 25}}, {}};
  for (std::int64_t blocks : {1, 2, 8}) expect_every_tile_once(p, sizes, blocks);
  const std::vector<Visit> all = test::visits(p, sizes, 1).front();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].trips, all[i - 1].trips - 1);
}

TEST(TileOrder, SectionsFitTheCache) {
  const Program p = mapped(causal_attention());
  auto columns_of_first_section = [&](std::int64_t group) {  // tiles before the first of another row
    const auto all = test::visits(p, attention_sizes(64, 8192, 128, group), 1).front();
    auto end =
        std::find_if(all.begin(), all.end(), [&](const Visit& v) { return v.tile[2] != all[0].tile[2]; });
    return end - all.begin();
  };
  EXPECT_EQ(columns_of_first_section(1), 8);  // of 2 MB of keys and as many of values
  EXPECT_EQ(columns_of_first_section(4), 32);
}

std::string tiles_of(const std::vector<Visit>& visits) {
  std::string text;
  for (const Visit& v : visits) text += fmt::format(" {}/{}", v.tile[1], v.tile[2]);
  return text;
}

TEST(TileOrder, GoesFromTheLongestToTheShortestAtLast) {
  const Program p = mapped(triangle(Shape::grows));
  const Sizes sizes{{{"H", 1}, {"I", 192}, {"N", 256}, {"K", 1 << 17}}, {}};  // sections of two columns
  const auto one = test::visits(p, sizes, 1);
  EXPECT_EQ(tiles_of(one.front()), " 0/0 0/1 1/0 1/1 2/0 2/1 2/2 2/3 1/2 1/3 0/2 0/3");
  const auto of_five = test::visits(p, sizes, 5);  // the last step is ragged, the one before is turned
  EXPECT_EQ(tiles_of(of_five[0]), " 0/0 1/3 0/2");
  EXPECT_EQ(tiles_of(of_five[4]), " 2/0 2/1");
  EXPECT_EQ(tiles_of(test::visits(mapped(triangle(Shape::shrinks)), sizes, 1).front()),
            " 2/0 2/1 1/0 1/1 0/0 0/1 0/2 0/3 1/2 1/3 2/2 2/3");
}

TEST(TileOrder, IsPlainWhereItIsAskedForOrWorkIsEqual) {
  const Program causal = causal_attention(), full = test::named_case("roles_attention").program;
  EXPECT_NE(to_text(mapped(causal)), to_text(mapped(causal, {.order = TileOrder::plain})));
  EXPECT_EQ(to_text(mapped(causal)), to_text(mapped(causal, {.order = TileOrder::longest})));
  EXPECT_EQ(to_text(mapped(full, {.order = TileOrder::longest})), to_text(mapped(full)));
  EXPECT_EQ(to_text(mapped(causal, {.raster = 4})),
            to_text(mapped(causal, {.raster = 4, .order = TileOrder::plain})));
  EXPECT_EQ(to_text(mapped(causal, {.grid = Grid::once})),
            to_text(mapped(causal, {.grid = Grid::once, .order = TileOrder::plain})));
}

}  // namespace
}  // namespace tessera
