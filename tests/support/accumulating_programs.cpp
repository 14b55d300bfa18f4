#include "tests/support/accumulating_programs.h"

#include "tests/support/cases.h"
#include "tile_core/dsl/math.h"

namespace tessera::test {

using namespace dsl;

Program scattered_rows() {
  Builder p("scattered_rows");
  Dim I = p.dim("I"), R = p.dim("R"), N = p.dim("N");
  In place = p.in("place", i32, {I}), x = p.in("x", f32, {I, N});
  Out out = p.out("out", f32, {R, N});
  Tile i = p.grid(I);
  Axis n = p.grid(N, 24);
  out(place(i), n) += x(i, n) * 0.5;
  return p.finish();
}

Program split_sums() {
  Builder p("split_sums");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), T = p.dim("T");
  In x = p.in("x", f32, {M, N}), y = p.in("y", f32, {M, K});
  Out rows = p.out("rows", f32, {M}), columns = p.out("columns", f32, {N}), total = p.out("total", f32, {T}),
      steps = p.out("steps", f32, {M}), blocks = p.out("blocks", f32, {T});
  Axis m = p.grid(M, 12), n = p.grid(N, 20);
  Tile value = x(m, n);
  rows(m) += reduce_sum(value, n);
  columns(n) += reduce_sum(value, m);
  total(0) += reduce_sum(reduce_sum(value + 1, m), n);
  for (Axis k : p.sequential(K, 8)) steps(m) += reduce_sum(y(m, k), k);
  blocks(0) += 1;
  return p.finish();
}

Program split_dot(const SplitTiles& t) {
  Builder p("split_dot");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, t.m), n = p.grid(N, t.n), part = p.grid(K, t.part);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, t.k, part.start(), min(part.end(), K))) acc += dot(a(m, k), b(n, k), k);
  out(m, n) += acc;
  return p.finish();
}

Program batch_dot(bool sums) {
  Builder p("batch_dot");
  Dim Z = p.dim("Z"), M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), T = p.dim("T");
  In a = p.in("a", bf16, {Z, M, K}), b = p.in("b", bf16, {Z, N, K}), bias = p.in("bias", f32, {N});
  Out out = p.out("out", f32, {M, N}), blocks = p.out("blocks", f32, {T});
  Tile z = p.grid(Z);
  Axis m = p.grid(M, 128), n = p.grid(N, 64);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) acc += dot(a(z, m, k), b(z, n, k), k);
  out(m, n) += acc + bias(n);
  if (sums) {
    Out rows = p.out("rows", f32, {M}), biases = p.out("biases", f32, {N});
    rows(m) += reduce_sum(acc, n);
    biases(n) += bias(n);
    blocks(0) += 1;
  } else {
    blocks(0) = 1;
  }
  return p.finish();
}

std::vector<Case> accumulating_cases() {
  constexpr double kF32 = 0x1p-20;
  return {
      {"scattered_rows",
       scattered_rows(),
       {{{{"I", 9}, {"R", 5}, {"N", 40}}},
        {{{"I", 9}, {"R", 5}, {"N", 29}}},
        {{{"I", 0}, {"R", 3}, {"N", 8}}}},
       0},
      {"split_sums",
       split_sums(),
       {{{{"M", 29}, {"N", 48}, {"K", 20}, {"T", 1}}},
        {{{"M", 29}, {"N", 45}, {"K", 19}, {"T", 2}}},
        {{{"M", 3}, {"N", 0}, {"K", 8}, {"T", 1}}}},
       kF32},
      {"split_dot",
       split_dot({.m = 16, .n = 32, .k = 32, .part = 64}),
       {{{{"M", 21}, {"N", 40}, {"K", 136}}},
        {{{"M", 21}, {"N", 45}, {"K", 149}}},
        {{{"M", 16}, {"N", 8}, {"K", 8}}},
        {{{"M", 3}, {"N", 5}, {"K", 0}}}},
       kF32},
  };
}

}  // namespace tessera::test
