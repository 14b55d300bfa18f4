#include <gtest/gtest.h>

#include "tile_core/dsl/math.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify.h"

namespace tessera::dsl {
namespace {

enum class Order { as_written, first_first, second_first };

/// out = gelu(a b^T + bias) with the operands of every expression made in this order.
Program traced(Order order) {
  Builder p("traced");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K}), bias = p.in("bias", bf16, {N});
  Out out = p.out("out", bf16, {M, N});
  Axis m = p.grid(M, 16), n = p.grid(N, 32);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 8)) {
    if (order == Order::as_written) {
      acc += dot(a(m, k), b(n, k), k);
    } else if (order == Order::first_first) {
      Tile x = a(m, k);
      Tile y = b(n, k);
      acc += dot(x, y, k);
    } else {
      Tile y = b(n, k);
      Tile x = a(m, k);
      acc += dot(x, y, k);
    }
  }
  if (order == Order::second_first) {
    Tile shift = cast(f32, bias(n));
    out(m, n) = cast(bf16, gelu(acc + shift));
  } else {
    out(m, n) = cast(bf16, gelu(acc + bias(n)));
  }
  return p.finish();
}

TEST(Trace, DoesNotDependOnTheOrderInWhichArgumentsAreEvaluated) {
  Program program = traced(Order::as_written);
  verify(program);
  EXPECT_EQ(to_text(traced(Order::first_first)), to_text(program));
  EXPECT_EQ(to_text(traced(Order::second_first)), to_text(program));
}

TEST(Trace, KeepsWhatIsNeededInTheOrderOfTheStatements) {
  std::string expected = R"(program traced stage tile {
  dim M
  dim N
  dim K
  axis m:16 grid M
  axis n:32 grid N
  axis k:8 loop K
  in a: bf16(M, K)
  in b: bf16(N, K)
  in bias: bf16(N)
  out out: bf16(M, N)
  grid m, n
  %0: i64 = constant 0
  %1: i64 = size K
  %2: f32[m:16, n:32] = constant 0
  pipelined k from %0 until %1 carry (%3: f32[m:16, n:32] = %2) {
    %4: bf16[m:16, k:8] = load a(m, k)
    %5: bf16[n:32, k:8] = load b(n, k)
    %6: f32[m:16, n:32] = dot<k> %4, %5
    %7: f32[m:16, n:32] = add %3, %6
    yield %7
  } results %8
  %9: bf16[n:32] = load bias(n)
)";
  EXPECT_EQ(to_text(traced(Order::as_written)).substr(0, expected.size()), expected);
}

TEST(Trace, CarriesOnlyWhatChanges) {
  Builder p("carries");
  Dim M = p.dim("M"), K = p.dim("K");
  In x = p.in("x", f32, {M, K});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 16);
  Var sum = p.zeros(f32, {m}), fixed = p.full(f32, {m}, 3);
  for (Axis k : p.sequential(K, 8)) {
    Var twice = reduce_sum(x(m, k), k);
    twice = twice * 2;
    for (Axis again : p.sequential(K, 8)) twice += reduce_sum(x(m, again), again);
    sum += twice * fixed;
  }
  out(m) = sum + fixed;
  Program program = p.finish();
  verify(program);
  const Loop* outer = nullptr;
  for (const Inst& inst : program.body.insts) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) outer = loop;
  }
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->carried.size(), 1);
}

TEST(Trace, DropsWhatNothingNeeds) {
  Builder p("drops");
  Dim M = p.dim("M");
  In x = p.in("x", f32, {M});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 16);
  exp(x(m));
  out(m) = x(m);
  EXPECT_EQ(p.finish().body.insts.size(), 2);
}

}  // namespace
}  // namespace tessera::dsl
