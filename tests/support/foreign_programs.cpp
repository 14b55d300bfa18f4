#include <numbers>

#include "tests/support/cases.h"
#include "tile_core/dsl/math.h"

namespace tessera::test {
namespace {

using namespace dsl;

/// out = gelu(x w1^T) * (x w2^T): two accumulators in one loop, tiles that are no powers of two.
Program dual_gemm() {
  Builder p("dual_gemm");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In x = p.in("x", bf16, {M, K}), w1 = p.in("w1", bf16, {N, K}), w2 = p.in("w2", bf16, {K, N});
  Out out = p.out("out", bf16, {M, N});
  Axis m = p.grid(M, 12), n = p.grid(N, 20);
  Var gate = p.zeros(f32, {m, n}), value = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 24)) {
    Tile rows = x(m, k);
    gate += dot(rows, w1(n, k), k);
    value += dot(rows, w2(k, n), k);
  }
  out(m, n) = cast(bf16, gelu(gate) * value);
  return p.finish();
}

/// out = ((a b^T) c^T) d^T, the first two in one loop.
Program three_chained_dots() {
  Builder p("three_chained_dots");
  Dim M = p.dim("M"), K = p.dim("K"), N = p.dim("N"), Q = p.dim("Q"), R = p.dim("R");
  In a = p.in("a", f16, {M, K}), b = p.in("b", f16, {N, K}), c = p.in("c", f16, {Q, N}),
     d = p.in("d", f16, {R, Q});
  Out out = p.out("out", f32, {M, R});
  Axis m = p.grid(M, 16), k = p.all(K, 16), q = p.all(Q, 16), r = p.all(R, 8);
  Tile left = a(m, k);
  Var acc = p.zeros(f32, {m, q});
  for (Axis n : p.pipelined(N, 8)) acc += dot(cast(f16, dot(left, b(n, k), k)), c(q, n), n);
  out(m, r) = dot(cast(f16, acc), d(r, q), q);
  return p.finish();
}

/// softmax(scale q k^T)'s weights again from the forward's logsumexp.
Tile weights_again(const Tile& scores, const Tile& scale, const Tile& logsumexp) {
  return exp2((scores * scale - logsumexp) * std::numbers::log2e);
}

/// The gradient of attention's query: dq = scale * (w * (do v^T - delta)) k.
Program attention_dq() {
  Builder p("attention_dq");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D"), E = p.dim("E");
  In q = p.in("q", f32, {I, D}), k = p.in("k", f32, {J, D}), v = p.in("v", f32, {J, E});
  In grad = p.in("grad", f32, {I, E}), lse = p.in("lse", f32, {I}), delta = p.in("delta", f32, {I});
  Out dq = p.out("dq", f32, {I, D});
  Tile scale = p.scalar("scale", f32);
  Axis i = p.grid(I, 16), d = p.all(D, 8), e = p.all(E, 8);
  Tile query = q(i, d), gradient = grad(i, e), row_lse = lse(i), row_delta = delta(i);
  Var acc = p.zeros(f32, {i, d});
  for (Axis j : p.pipelined(J, 8)) {
    Tile keys = k(j, d);
    Tile w = weights_again(dot(query, keys, d), scale, row_lse);
    Tile ds = w * (dot(gradient, v(j, e), e) - row_delta) * scale;
    acc += dot(ds, keys, j);
  }
  dq(i, d) = acc;
  return p.finish();
}

/// The gradients of its keys and values: two accumulators, reductions over the rows of the query.
Program attention_dkv() {
  Builder p("attention_dkv");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D"), E = p.dim("E");
  In q = p.in("q", f32, {I, D}), k = p.in("k", f32, {J, D}), v = p.in("v", f32, {J, E});
  In grad = p.in("grad", f32, {I, E}), lse = p.in("lse", f32, {I}), delta = p.in("delta", f32, {I});
  Out dk = p.out("dk", f32, {J, D}), dv = p.out("dv", f32, {J, E});
  Tile scale = p.scalar("scale", f32);
  Axis j = p.grid(J, 8), d = p.all(D, 8), e = p.all(E, 8);
  Tile keys = k(j, d), values = v(j, e);
  Var acc_k = p.zeros(f32, {j, d}), acc_v = p.zeros(f32, {j, e});
  for (Axis i : p.pipelined(I, 16)) {
    Tile query = q(i, d), gradient = grad(i, e);
    Tile w = weights_again(dot(query, keys, d), scale, lse(i));
    acc_v += dot(w, gradient, i);
    acc_k += dot(w * (dot(gradient, values, e) - delta(i)) * scale, query, i);
  }
  dk(j, d) = acc_k;
  dv(j, e) = acc_v;
  return p.finish();
}

/// The largest and the smallest of each row of a product, and the column's sum of a third tensor beside it.
Program reduction_of_a_dot() {
  Builder p("reduction_of_a_dot");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", f16, {M, K}), b = p.in("b", f16, {N, K}), c = p.in("c", f32, {M, N});
  Out top = p.out("top", f32, {M}), bottom = p.out("bottom", f32, {M}), sums = p.out("sums", f32, {M});
  Axis m = p.grid(M, 16), k = p.all(K, 16);
  Tile rows = a(m, k);
  Var highest = p.full(f32, {m}, -inf), lowest = p.full(f32, {m}, inf), sum = p.zeros(f32, {m});
  for (Axis n : p.pipelined(N, 32)) {
    Tile product = dot(rows, b(n, k), k);
    highest = max(highest, reduce_max(product, n));
    lowest = min(lowest, reduce_min(product, n));
    sum += reduce_sum(c(m, n) * product, n);
  }
  top(m) = highest;
  bottom(m) = lowest;
  sums(m) = sum;
  return p.finish();
}

/// out[m,n] = (a b^T)[m,n] * sum_q x[m,q]: the sum is wanted in the layout of the dot.
Program dot_times_reduction() {
  Builder p("dot_times_reduction");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), Q = p.dim("Q");
  In a = p.in("a", f32, {M, K}), b = p.in("b", f32, {N, K}), x = p.in("x", f32, {M, Q});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, 16), n = p.grid(N, 16), q = p.all(Q, 64);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 8)) acc += dot(a(m, k), b(n, k), k);
  out(m, n) = acc * reduce_sum(x(m, q), q);
  return p.finish();
}

/// A recurrence along time, one step an iteration, stored as it goes; its end too.
Program recurrence() {
  Builder p("recurrence");
  Dim M = p.dim("M"), T = p.dim("T");
  In x = p.in("x", f32, {M, T});
  Out states = p.out("states", f32, {M, T}), last = p.out("last", f32, {M});
  Axis m = p.grid(M, 32);
  Var state = p.zeros(f32, {m});
  for (Axis t : p.sequential(T, 1)) {
    state = state * 0.5 + reduce_sum(x(m, t), t);
    states(m, t) = broadcast(state, {t});
  }
  last(m) = state;
  return p.finish();
}

/// a, b = b, a + x: what the body yields are parameters in another order.
Program swapped_yields() {
  Builder p("swapped_yields");
  Dim M = p.dim("M"), T = p.dim("T");
  In x = p.in("x", f32, {T, M});
  Out first = p.out("first", f32, {M}), second = p.out("second", f32, {M}), count = p.out("count", i64, {M});
  Axis m = p.grid(M, 16);
  Var a = p.zeros(f32, {m}), b = p.full(f32, {m}, 1), steps = p.full(i64, {}, 0);
  for (Axis t : p.pipelined(T, 1)) {
    Tile old = cast(f32, a);
    a = b;
    b = old + reduce_max(x(t, m), t);
    steps = steps + t.start() * 0 + 1;
  }
  first(m) = a;
  second(m) = b;
  count(m) = steps;
  return p.finish();
}

/// a, b = b, a as often as T says: a loop whose body holds nothing.
Program rotated() {
  Builder p("rotated");
  Dim M = p.dim("M"), T = p.dim("T");
  In x = p.in("x", f32, {T, M});
  Out first = p.out("first", f32, {M}), second = p.out("second", f32, {M});
  Axis m = p.grid(M, 16);
  Var a = x(0, m), b = x(1, m);
  for ([[maybe_unused]] Axis t : p.sequential(T, 1)) {
    Tile old = cast(f32, a);
    a = b;
    b = old;
  }
  first(m) = a;
  second(m) = b;
  return p.finish();
}

/// out[m] = sum_n max(sum_k a[m,k] b[n,k], 0) c[n]: a loop inside a loop.
Program nested_loops() {
  Builder p("nested_loops");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K}), c = p.in("c", f32, {N});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 16);
  Var total = p.zeros(f32, {m});
  for (Axis n : p.pipelined(N, 16)) {
    Var acc = p.zeros(f32, {m, n});
    for (Axis k : p.pipelined(K, 8)) acc += dot(a(m, k), b(n, k), k);
    total += reduce_sum(max(acc, 0) * c(n), n);
  }
  out(m) = total;
  return p.finish();
}

/// A loop inside of a loop whose operand the outer one loads: the slot is used again by the next iteration.
Program outer_operand() {
  Builder p("outer_operand");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), L = p.dim("L");
  In a = p.in("a", f16, {L, M, K}), b = p.in("b", f16, {N, K});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 16), k = p.all(K, 16);
  Var total = p.zeros(f32, {m});
  for (Axis l : p.sequential(L, 1)) {
    Tile rows = a(l.start(), m, k);
    for (Axis n : p.pipelined(N, 8)) total += reduce_sum(abs(dot(rows, b(n, k), k)), n);
  }
  out(m) = total;
  return p.finish();
}

/// A window of keys before each row: loops that begin anywhere, below 0 too.
Program window() {
  Builder p("window");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D");
  In q = p.in("q", f16, {I, D}), k = p.in("k", f16, {D, J}), bias = p.in("bias", f32, {I, J});
  Out sums = p.out("sums", f32, {I}), tops = p.out("tops", f32, {I}), counts = p.out("counts", i64, {I});
  Tile before = p.scalar("before", i64);
  Axis i = p.grid(I, 16), d = p.all(D, 8);
  Tile rows = q(i, d);
  Var sum = p.zeros(f32, {i}), top = p.full(f32, {i}, -inf), count = p.full(i64, {i}, 0);
  for (Axis j : p.pipelined(J, 16, i.start() - before, i.end())) {
    Tile scores = dot(rows, k(d, j), d) + bias(i, j);
    Tile seen = j.index() <= i.index() && j.index() > i.index() - before;
    sum += reduce_sum(where(seen, scores, 0), j);
    top = max(top, reduce_max(where(seen, scores, -inf), j));
    count = count + reduce_sum(where(seen, p.full(i64, {}, 1), 0), j);
  }
  sums(i) = sum;
  tops(i) = top;
  counts(i) = count;
  return p.finish();
}

/// Every kind of element, in one elementwise expression, and scalars read from memory as subscripts.
Program mixed_dtypes() {
  Builder p("mixed_dtypes");
  Dim M = p.dim("M"), N = p.dim("N"), V = p.dim("V");
  In rows = p.in("rows", i32, {M}), table = p.in("table", f16, {V, N}), mask = p.in("mask", boolean, {M, N});
  In steps = p.in("steps", i64, {N});
  Out out = p.out("out", bf16, {M, N}), number = p.out("number", i64, {M, N}),
      small = p.out("small", i32, {M, N});
  Out either = p.out("either", boolean, {M, N}), half = p.out("half", f16, {M, N});
  Tile m = p.grid(M);
  Axis n = p.grid(N, 24);
  Tile row = rows(m), x = table(row, n), step = steps(n), chosen = mask(m, n);
  out(m, n) = cast(bf16, where(chosen, cast(f32, x) * cast(f32, step), -cast(f32, row)));
  number(m, n) = max(cast(i64, min(x * 10, 5000)), step) + abs(-step) - row;
  small(m, n) = cast(i32, min(step, 3)) + max(row, cast(i32, 2 + n.index()));
  either(m, n) = !chosen || cast(boolean, step);
  half(m, n) = where(cast(f16, chosen) == 1, x, cast(f16, 0.5 * x));
  return p.finish();
}

/// x x^T of values made in registers, two axes over one dim; a tile that is multiplied and used elementwise.
Program gram() {
  Builder p("gram");
  Dim M = p.dim("M"), K = p.dim("K");
  In x = p.in("x", f32, {M, K});
  Out out = p.out("out", f32, {M, M}), rows = p.out("rows", f32, {M});
  Axis m = p.grid(M, 16), n = p.grid(M, 8);
  Var acc = p.zeros(f32, {n, m}), sum = p.zeros(f32, {m});
  for (Axis k : p.pipelined(K, 8)) {
    Tile left = x(m, k), right = x(n, k) * 0.5;
    acc += dot(right, left, k);
    sum += reduce_sum(left, k);
  }
  out(m, n) = acc + outer(sum, p.full(f32, {n}, 1));
  rows(m) = sum;
  return p.finish();
}

/// One block, and a result without axes.
Program inner_product() {
  Builder p("inner_product");
  Dim K = p.dim("K");
  In a = p.in("a", f32, {K}), b = p.in("b", bf16, {K});
  Out out = p.out("out", f32, {}), top = p.out("top", f32, {});
  Var acc = p.zeros(f32, {}), highest = p.full(f32, {}, -inf);
  for (Axis k : p.pipelined(K, 32)) {
    acc += dot(a(k), b(k), k);
    highest = max(highest, reduce_max(a(k), k));
  }
  out.at({}) = acc;
  top.at({}) = highest;
  return p.finish();
}

/// Two loops one after the other over one ring's worth of loads each, the second from where the first ended.
Program two_loops() {
  Builder p("two_loops");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K}), c = p.in("c", bf16, {K, N});
  Out out = p.out("out", f32, {N, M});
  Axis m = p.grid(M, 16), n = p.grid(N, 16);
  Tile half = K / 32 * 16;
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 16, 0, half)) acc += dot(a(m, k), b(n, k), k);
  for (Axis k : p.pipelined(K, 16, half, K)) acc += dot(a(m, k), c(k, n), k);
  out(n, m) = acc;
  return p.finish();
}

constexpr double kF32 = 0x1p-20;
constexpr double kF16 = 0x1p-9;
constexpr double kBf16 = 0x1p-7;

}  // namespace

std::vector<Case> foreign_cases() {
  const std::map<std::string, double> scale = {{"scale", 0.3}};
  std::vector<Case> cases = {
      {"dual_gemm",
       dual_gemm(),
       {{{{"M", 29}, {"N", 40}, {"K", 56}}},
        {{{"M", 29}, {"N", 45}, {"K", 53}}},
        {{{"M", 12}, {"N", 20}, {"K", 24}}},
        {{{"M", 1}, {"N", 1}, {"K", 0}}}},
       kBf16},
      {"three_chained_dots",
       three_chained_dots(),
       {{{{"M", 21}, {"K", 8}, {"N", 40}, {"Q", 8}, {"R", 5}}},
        {{{"M", 21}, {"K", 13}, {"N", 27}, {"Q", 11}, {"R", 5}}},
        {{{"M", 16}, {"K", 16}, {"N", 8}, {"Q", 16}, {"R", 8}}}},
       kF16},
      {"attention_dq",
       attention_dq(),
       {{{{"I", 21}, {"J", 20}, {"D", 4}, {"E", 4}}, scale},
        {{{"I", 21}, {"J", 19}, {"D", 7}, {"E", 5}}, scale},
        {{{"I", 16}, {"J", 8}, {"D", 8}, {"E", 8}}, scale}},
       kF32},
      {"attention_dkv",
       attention_dkv(),
       {{{{"I", 37}, {"J", 20}, {"D", 4}, {"E", 4}}, scale},
        {{{"I", 37}, {"J", 19}, {"D", 7}, {"E", 5}}, scale},
        {{{"I", 1}, {"J", 1}, {"D", 1}, {"E", 1}}, scale}},
       kF32},
      {"reduction_of_a_dot",
       reduction_of_a_dot(),
       {{{{"M", 19}, {"N", 72}, {"K", 8}}},
        {{{"M", 19}, {"N", 70}, {"K", 11}}},
        {{{"M", 5}, {"N", 0}, {"K", 3}}}},
       kF32},
      {"dot_times_reduction",
       dot_times_reduction(),
       {{{{"M", 19}, {"N", 20}, {"K", 20}, {"Q", 48}}}, {{{"M", 19}, {"N", 21}, {"K", 13}, {"Q", 50}}}},
       kF32},
      {"recurrence", recurrence(), {{{{"M", 37}, {"T", 5}}}, {{{"M", 3}, {"T", 0}}}}, 0},
      {"swapped_yields", swapped_yields(), {{{{"M", 21}, {"T", 5}}}, {{{"M", 21}, {"T", 0}}}}, 0},
      {"rotated", rotated(), {{{{"M", 21}, {"T", 3}}}, {{{"M", 21}, {"T", 0}}}}, 0},
      {"nested_loops",
       nested_loops(),
       {{{{"M", 21}, {"N", 40}, {"K", 24}}},
        {{{"M", 21}, {"N", 37}, {"K", 19}}},
        {{{"M", 16}, {"N", 16}, {"K", 0}}},
        {{{"M", 3}, {"N", 0}, {"K", 8}}}},
       kF32},
      {"outer_operand",
       outer_operand(),
       {{{{"M", 21}, {"N", 20}, {"K", 8}, {"L", 3}}}, {{{"M", 21}, {"N", 19}, {"K", 9}, {"L", 3}}}},
       kF32},
      {"window",
       window(),
       {{{{"I", 40}, {"J", 40}, {"D", 7}}, {{"before", 8}}},
        {{{"I", 40}, {"J", 21}, {"D", 7}}, {{"before", 30}}},
        {{{"I", 37}, {"J", 37}, {"D", 7}}, {{"before", 5}}},
        {{{"I", 40}, {"J", 48}, {"D", 8}}, {{"before", 16}}}},
       kF32},
      {"mixed_dtypes",
       mixed_dtypes(),
       {{{{"M", 9}, {"N", 40}, {"V", 5}}}, {{{"M", 9}, {"N", 29}, {"V", 5}}}},
       0},
      {"gram", gram(), {{{{"M", 20}, {"K", 20}}}, {{{"M", 21}, {"K", 19}}}}, kF32},
      {"inner_product", inner_product(), {{{{"K", 72}}}, {{{"K", 77}}}, {{{"K", 0}}}}, kF32},
      {"two_loops",
       two_loops(),
       {{{{"M", 21}, {"N", 24}, {"K", 88}}},
        {{{"M", 21}, {"N", 19}, {"K", 77}}},
        {{{"M", 8}, {"N", 8}, {"K", 15}}}},
       kF32},
  };
  for (Case& c : accumulating_cases()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace tessera::test
