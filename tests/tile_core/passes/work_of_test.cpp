#include "tile_core/passes/work_of.h"

#include <functional>
#include <gtest/gtest.h>

#include "tests/support/cases.h"
#include "tile_core/dsl/math.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

using namespace dsl;

/// What a loop's bounds are made from.
struct Bounds {
  Builder& p;
  Axis rows, columns;
  Tile scalar, size;
};
using Range = std::pair<Tile, Tile>;

/// Sums over a loop of the given range, in a grid of rows and columns.
Program summed(const std::function<Range(const Bounds&)>& range_of) {
  Builder p("summed");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", f32, {M, N});
  Tile scalar = p.scalar("scalar", i64);
  Axis m = p.grid(M, 64), n = p.grid(N, 32);
  auto [begin, end] = range_of({p, m, n, scalar, cast(i64, K)});
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 16, begin, end)) acc += dot(a(m, k), b(n, k), k);
  out(m, n) = acc;
  return p.finish();
}

struct Subject {
  const char* name;
  std::function<Range(const Bounds&)> range;
  const char* work;
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.name;
}

Tile number(const Bounds& b, double value) {
  return b.p.full(i64, {}, value);
}

const Subject kSubjects[] = {
    {"whole",
     [](const Bounds& b) {
       return Range{number(b, 0), b.size};
     },
     "equal"},
    {"causal",
     [](const Bounds& b) {
       return Range{number(b, 0), min(b.size, b.rows.end() + b.scalar)};
     },
     "m grows"},
    {"of_columns",
     [](const Bounds& b) {
       return Range{number(b, 0), b.columns.end()};
     },
     "n grows"},
    {"from_the_diagonal",
     [](const Bounds& b) {
       return Range{max(number(b, 0), b.rows.start() - b.scalar), b.size};
     },
     "m shrinks"},
    {"what_is_left",
     [](const Bounds& b) {
       return Range{number(b, 0), b.size - b.rows.start()};
     },
     "m shrinks"},
    {"scaled",
     [](const Bounds& b) {
       return Range{number(b, 0), b.rows.end() * 3 / 2};
     },
     "m grows"},
    {"scaled_by_a_size",
     [](const Bounds& b) {
       return Range{number(b, 0), b.size * b.rows.end()};
     },
     "m grows"},
    {"negated",
     [](const Bounds& b) {
       return Range{b.rows.end() * -1, number(b, 0)};
     },
     "m grows"},
    {"highest_index",
     [](const Bounds& b) {
       return Range{number(b, 0), reduce_max(b.rows.index() + b.scalar, b.rows)};
     },
     "m grows"},
    {"window",
     [](const Bounds& b) {
       return Range{b.rows.start() - b.scalar, b.rows.end()};
     },
     "equal"},
    {"scaled_by_any_scalar",
     [](const Bounds& b) {
       return Range{number(b, 0), b.rows.end() * b.scalar};
     },
     "equal"},
    {"both_axes",
     [](const Bounds& b) {
       return Range{number(b, 0), min(b.rows.end(), b.columns.end())};
     },
     "equal"},
    {"chosen",
     [](const Bounds& b) {
       return Range{number(b, 0), where(b.rows.start() < b.scalar, b.size, b.scalar)};
     },
     "equal"},
};

class WorkOf : public ::testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(Ranges, WorkOf, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return info.param.name; });

std::string to_text(const Program& p, const Work& work) {
  if (work.axis == AxisId::none) return "equal";
  return p.axis(work.axis).name + (work.grows ? " grows" : " shrinks");
}

TEST_P(WorkOf, FollowsTheTripsOfALoop) {
  Program p = summed(GetParam().range);
  EXPECT_EQ(to_text(p, work_of(p)), GetParam().work);
}

TEST(WorkOf, FindsWhatTilesShare) {
  Program p = summed([](const Bounds& b) { return Range{number(b, 0), b.rows.end()}; });
  Work work = work_of(p);
  ASSERT_EQ(work.shared.size(), 1U);
  EXPECT_EQ(p.tensor(work.shared.front().load.tensor).name, "b");
  EXPECT_TRUE(work.shared.front().neighbours.empty());
}

TEST(WorkOf, FindsThatNeighboursShareHeads) {
  Program p = test::named_case("roles_attention_causal").program;
  Work work = work_of(simplify(p, {}));
  EXPECT_EQ(to_text(p, work), "i grows");
  ASSERT_EQ(work.shared.size(), 2U);
  for (const SharedLoad& shared : work.shared) {
    ASSERT_EQ(shared.neighbours.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Scalar>(shared.neighbours.front()));
  }
}

TEST(WorkOf, IsEqualWhereLoopsDisagree) {
  Builder p("opposite");
  Dim M = p.dim("M"), K = p.dim("K");
  In a = p.in("a", f32, {M, K});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 16);
  Var sum = p.zeros(f32, {m});
  for (Axis k : p.pipelined(K, 16, 0, m.end())) sum += reduce_sum(a(m, k), k);
  for (Axis k : p.pipelined(K, 16, m.start(), cast(i64, K))) sum += reduce_sum(a(m, k), k);
  out(m) = sum;
  EXPECT_EQ(work_of(p.finish()).axis, AxisId::none);
}

}  // namespace
}  // namespace tessera
