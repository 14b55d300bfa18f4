#include <functional>
#include <gtest/gtest.h>

#include "tile_core/dsl/math.h"
#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify.h"

// What mask() makes of a loop: the tiles that it visits, and that no key is lost.
namespace tessera::dsl {
namespace {

constexpr int kRows = 16, kKeys = 8;  // of a tile
constexpr std::int64_t kShift = 5, kLength = 21;

/// What a condition is made of.
struct Text {
  Builder& p;
  Axis i, j;
  In lengths;
  Tile shift;
};

struct Interval {
  std::int64_t begin, end;
};

struct Band {
  const char* name;
  Tile (*visible)(const Text& t);
  bool (*sees)(std::int64_t i, std::int64_t j);
  /// The keys among which rows first .. last may see some, as far as the comparisons say.
  Interval (*keys)(std::int64_t first, std::int64_t last);
};
void PrintTo(const Band& band, std::ostream* out) {
  *out << band.name;
}

/// counts[i]: the keys that row i sees. visits[i]: the tiles of keys that its block comes to.
Program counted(const Band& band) {
  Builder p("counted");
  Dim I = p.dim("I"), J = p.dim("J"), B = p.dim("B");
  In keys = p.in("keys", f32, {J}), lengths = p.in("lengths", i32, {B});
  Out counts = p.out("counts", f32, {I}), visits = p.out("visits", f32, {I});
  Tile shift = p.scalar("shift", i64);
  Axis i = p.grid(I, kRows);
  Var seen = p.zeros(f32, {i}), steps = p.zeros(f32, {});
  for (Axis j : p.pipelined(J, kKeys)) {
    Tile scores = mask(broadcast(keys(j), {i}), band.visible({p, i, j, lengths, shift}), j);
    seen += reduce_sum(where(scores == -inf, 0, broadcast(keys(j), {i})), j);
    steps += 1;
  }
  counts(i) = seen;
  visits(i) = broadcast(steps, {i});
  return p.finish();
}

class Masks : public ::testing::TestWithParam<Band> {};

TEST_P(Masks, VisitOnlyTilesWithKeysThatRowsSee) {
  const Band& band = GetParam();
  const Program program = counted(band);
  verify(program);
  const Interval sizes[] = {{37, 53}, {16, 8}, {1, 40}, {40, 1}, {5, 64}, {3, 0}};
  for (const auto& [rows, keys] : sizes) {
    Buffer ones(f32, {keys}), lengths(i32, {1}), counts(f32, {rows}), visits(f32, {rows});
    ones.set(std::vector<double>(static_cast<std::size_t>(keys), 1));
    lengths.set({kLength});
    interpret(program, {ones.view(), lengths.view(), counts.view(), visits.view()}, {kShift});
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t seen = 0;
      for (std::int64_t j = 0; j < keys; ++j) seen += band.sees(i, j) ? 1 : 0;
      EXPECT_EQ(counts.get()[static_cast<std::size_t>(i)], seen) << rows << "x" << keys << " row " << i;
      const std::int64_t first = i / kRows * kRows, last = std::min(first + kRows, rows) - 1;
      Interval visited = band.keys(first, last);
      visited = {std::max<std::int64_t>(visited.begin, 0), std::min(visited.end, keys)};
      const std::int64_t tiles = std::max<std::int64_t>(visited.end - visited.begin + kKeys - 1, 0) / kKeys;
      EXPECT_EQ(visits.get()[static_cast<std::size_t>(i)], tiles) << rows << "x" << keys << " row " << i;
    }
  }
}

constexpr std::int64_t kAll = std::int64_t{1} << 40;

INSTANTIATE_TEST_SUITE_P(
    , Masks,
    ::testing::Values(
        Band{"causal", [](const Text& t) { return t.j.index() <= t.i.index(); },
             [](auto i, auto j) { return j <= i; },
             [](auto, auto last) {
               return Interval{0, last + 1};
             }},
        Band{"strictly", [](const Text& t) { return t.i.index() > t.j.index(); },
             [](auto i, auto j) { return j < i; },
             [](auto, auto last) {
               return Interval{0, last};
             }},
        Band{"window",
             [](const Text& t) { return t.j.index() <= t.i.index() && t.i.index() - t.j.index() < t.shift; },
             [](auto i, auto j) { return j <= i && i - j < kShift; },
             [](auto first, auto last) {
               return Interval{first - kShift + 1, last + 1};
             }},
        Band{"both_sides",
             [](const Text& t) {
               return t.i.index() - 9 < t.j.index() && t.j.index() < t.shift + t.i.index();
             },
             [](auto i, auto j) { return i - 9 < j && j < i + kShift; },
             [](auto first, auto last) {
               return Interval{first - 8, last + kShift};
             }},
        Band{"negated", [](const Text& t) { return -t.j.index() >= 3 - t.i.index(); },
             [](auto i, auto j) { return j <= i - 3; },
             [](auto, auto last) {
               return Interval{0, last - 2};
             }},
        Band{"other_side", [](const Text& t) { return 3 - t.j.index() <= t.shift - t.i.index(); },
             [](auto i, auto j) { return 3 - j <= kShift - i; },
             [](auto first, auto) {
               return Interval{first + 3 - kShift, kAll};
             }},
        Band{"diagonal", [](const Text& t) { return t.j.index() == t.i.index(); },
             [](auto i, auto j) { return j == i; },
             [](auto first, auto last) {
               return Interval{first, last + 1};
             }},
        Band{"lower_of_two", [](const Text& t) { return t.j.index() <= min(t.i.index(), 20); },
             [](auto i, auto j) { return j <= std::min<std::int64_t>(i, 20); },
             [](auto, auto last) {
               return Interval{0, std::min<std::int64_t>(last, 20) + 1};
             }},
        Band{"two_bands",
             [](const Text& t) {
               Tile distance = t.i.index() - t.j.index();
               return (distance >= 0 && distance < 2) || (distance >= -9 && distance < -7);
             },
             [](auto i, auto j) { return (i >= j && i < j + 2) || (i >= j - 9 && i < j - 7); },
             [](auto first, auto last) {
               return Interval{first - 1, last + 10};
             }},
        Band{"sinks",
             [](const Text& t) {
               return t.j.index() <= t.i.index() && (t.j.index() < 2 || t.i.index() - t.j.index() < 3);
             },
             [](auto i, auto j) { return j <= i && (j < 2 || i - j < 3); },
             [](auto, auto last) {
               return Interval{0, last + 1};
             }},
        Band{"loaded_length", [](const Text& t) { return t.j.index() < cast(i64, t.lengths(0)); },
             [](auto, auto j) { return j < kLength; },
             [](auto, auto) {
               return Interval{0, kLength};
             }},
        Band{"loaded_length_as_it_is", [](const Text& t) { return t.j.index() < t.lengths(0); },
             [](auto, auto j) { return j < kLength; },
             [](auto, auto) {
               return Interval{0, kLength};
             }},
        Band{"of_another_form", [](const Text& t) { return t.j.index() * 2 <= t.i.index(); },
             [](auto i, auto j) { return 2 * j <= i; },
             [](auto, auto) {
               return Interval{0, kAll};
             }},
        Band{"of_rows_alone", [](const Text& t) { return t.i.index() % 2 == t.j.index() * 0; },
             [](auto i, auto) { return i % 2 == 0; },
             [](auto, auto) {
               return Interval{0, kAll};
             }},
        Band{"start_of_the_tile", [](const Text& t) { return t.j.start() + t.i.index() * 0 < t.shift; },
             [](auto, auto j) { return j / kKeys * kKeys < kShift; },
             [](auto, auto) {
               return Interval{0, kAll};
             }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Mask, BoundsStandBeforeTheLoop) {
  Builder p("window");
  Dim I = p.dim("I"), J = p.dim("J");
  In x = p.in("x", f32, {I, J});
  Out top = p.out("top", f32, {I});
  Axis i = p.grid(I, 16);
  Var highest = p.full(f32, {i}, -inf);
  for (Axis j : p.pipelined(J, 8, 2, J)) {
    Tile window = p.scalar("window", i64);
    highest = max(highest, reduce_max(mask(x(i, j), i.index() - j.index() < window, j), j));
  }
  top(i) = highest;
  const std::string text = to_text(p.finish());
  const std::string expected = R"(  grid i
  %0: i64 = constant 2
  %1: i64 = start i
  %2: i64 = scalar window
  %3: i64 = constant 1
  %4: i64 = sub %2, %3
  %5: i64 = sub %1, %4
  %6: i64 = max %0, %5
  %7: i64 = size J
  %8: f32[i:16] = constant -inf
  pipelined j from %6 until %7)";
  EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST(Mask, EveryMaskOfALoopCounts) {
  Builder p("two");
  Dim I = p.dim("I"), J = p.dim("J");
  In x = p.in("x", f32, {J});
  Out out = p.out("out", f32, {I});
  Axis i = p.grid(I, 16);
  Var steps = p.zeros(f32, {i});
  for (Axis j : p.pipelined(J, 8)) {
    Tile once = mask(broadcast(x(j), {i}), j.index() < 20, j);
    steps += reduce_max(mask(once, j.index() >= 4, j), j);
  }
  out(i) = steps;
  Buffer keys(f32, {40}), result(f32, {16});
  keys.set(std::vector<double>(40, 1));
  interpret(p.finish(), {keys.view(), result.view()}, {});
  EXPECT_EQ(result.get()[0], 2);  // 4 .. 11 and 12 .. 19
}

TEST(Mask, OfATileThatCoversItsDimIsASelect) {
  Builder p("whole");
  Dim J = p.dim("J");
  In x = p.in("x", f32, {J});
  Out out = p.out("out", f32, {J});
  Axis j = p.all(J, 8);
  out(j) = mask(x(j), j.index() < 2, j);
  Buffer keys(f32, {4}), result(f32, {4});
  keys.set({1, 2, 3, 4});
  interpret(p.finish(), {keys.view(), result.view()}, {});
  EXPECT_EQ(result.get(), (std::vector<double>{1, 2, -inf, -inf}));
}

}  // namespace
}  // namespace tessera::dsl
