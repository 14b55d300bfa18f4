#include "tile_core/target/access.h"

#include <functional>
#include <gtest/gtest.h>

#include "tile_core/dsl/math.h"
#include "tile_core/ir/parse.h"

namespace tessera {
namespace {

using namespace dsl;

/// What is known of the starts of a loop over tiles of 16, which begins where `begin` says, given 16 times
/// the size of a dim and a number of the call.
StartFacts facts(const std::function<Tile(const Tile& size, const Tile& number)>& begin) {
  Builder p("p");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", f32, {M, N});
  Out out = p.out("out", f32, {M});
  Tile number = p.scalar("number", i64);
  Axis m = p.grid(M, 16);
  Var sum = p.zeros(f32, {m});
  AxisId loop{};
  for (Axis n : p.sequential(N, 16, begin(M * 16, number), N)) {
    loop = n.id();
    sum += reduce_sum(x(m, n), n);
  }
  out(m) = sum;
  return start_facts(p.finish(), loop);
}

void expect_facts(const StartFacts& actual, int divisor, bool negative) {
  EXPECT_EQ(actual.divisor, divisor);
  EXPECT_EQ(actual.negative, negative);
}

TEST(StartFacts, FollowIntegerArithmetic) {
  expect_facts(facts([](const Tile& size, const Tile&) { return size + 8; }), 8, false);
  expect_facts(facts([](const Tile& size, const Tile&) { return size - 16; }), 16, true);
  expect_facts(facts([](const Tile& size, const Tile&) { return max(size - 4, 0); }), 4, false);
  expect_facts(facts([](const Tile& size, const Tile& number) { return size + number * 8; }), 8, true);
  expect_facts(facts([](const Tile& size, const Tile& number) { return size + number; }), 1, true);
  expect_facts(facts([](const Tile& size, const Tile&) { return size / 4; }), 1, false);
  expect_facts(facts([](const Tile& size, const Tile&) { return cast(i64, cast(i32, size)) * 2; }), 16,
               false);
}

TEST(StartFacts, KnowNothingOfWhatFloatsRoundTo) {
  auto scaled = [](double scale) {
    return [scale](const Tile& size, const Tile&) { return cast(i64, cast(f32, size) * scale); };
  };
  for (double scale : {0.25, 0.3, 2.0, 1e30, inf}) expect_facts(facts(scaled(scale)), 1, true);
  expect_facts(facts([](const Tile& size, const Tile&) { return cast(i64, cast(bf16, size)); }), 1, true);
  expect_facts(facts([](const Tile& size, const Tile&) { return size + cast(i64, size < 5); }), 1, true);
}

/// A loop that begins where the number of a tile says, which a persistent block steps through.
TEST(StartFacts, FollowTheNumberOfATile) {
  const Program program = parse(R"(program tiles stage mapped persistent {
  dim N
  axis n:16 loop N
  in x: f32(N)
  out out: f32(N)
  %0: i64 = block_index
  %1: i64 = block_count
  %2: i64 = size N
  sequential * from %0 until %2 step %1 start %3 {
    %4: i64 = constant 8
    %5: i64 = mul %3, %4
    pipelined n from %5 until %2 start %6 {
      %7: f32[n:16] = load x(n at %6)
      store out(n at %6), %7
    }
  }
}
)",
                                "tiles");
  expect_facts(start_facts(program, AxisId{0}), 8, false);
}

}  // namespace
}  // namespace tessera
