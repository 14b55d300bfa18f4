#include <numbers>

#include "ops/operator.h"
#include "tests/support/accumulating_programs.h"
#include "tests/support/cases.h"
#include "tile_core/dsl/math.h"

namespace tessera::test {
namespace {

using namespace dsl;

Program program_of(const ops::Operator& op, const std::vector<DType>& dtypes, Flags flags,
                   const Tiles& tiles) {
  Facts facts{.tensors = {}, .flags = std::move(flags)};
  for (DType dtype : dtypes) facts.tensors.push_back({.dtype = dtype});
  return op.program(facts, tiles);
}

Case linear_case(std::string name, DType dtype, int gelu, int preactivation, const Tiles& tiles) {
  std::vector<DType> dtypes(static_cast<std::size_t>(4 + preactivation), dtype);
  Program p = program_of(ops::linear(), dtypes,
                         {{"bias", 1}, {"gelu", gelu}, {"preactivation", preactivation}}, tiles);
  return {std::move(name),
          std::move(p),
          {{{{"M", 200}, {"N", 136}, {"K", 200}}},
           {{{"M", 64}, {"N", 8}, {"K", 64}}},
           {{{"M", 300}, {"N", 72}, {"K", 8}}}},
          0x1p-7};
}

Call attention_call(std::int64_t I, std::int64_t J, double diagonal, std::int64_t group) {
  return {{{"B", 1}, {"H", 2}, {"G", 2 / group}, {"I", I}, {"J", J}, {"D", 56}, {"E", 64}},
          {{"scale", 0.2}, {"diagonal", diagonal}, {"group", static_cast<double>(group)}}};
}

Case attention_case(std::string name, bool causal, int mask, const Tiles& tiles) {
  std::vector<DType> dtypes(3, bf16);
  if (mask != 0) dtypes.push_back(boolean);
  dtypes.insert(dtypes.end(), {bf16, f32});
  Program p = program_of(ops::attention(), dtypes, {{"causal", causal ? 1 : 0}, {"mask", mask}}, tiles);
  std::vector<Call> calls = {attention_call(150, 200, 0, 2), attention_call(64, 128, 0, 1),
                             attention_call(1, 1, 0, 2)};
  if (causal) {
    for (double diagonal : {70.0, -30.0, -300.0}) calls.push_back(attention_call(150, 136, diagonal, 2));
  }
  return {std::move(name), std::move(p), std::move(calls), 0x1p-7};
}

/// out = gelu(x w1^T) * (x w2): two accumulators in one loop, operands contiguous along either axis.
Program dual_gemm() {
  Builder p("dual_gemm");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In x = p.in("x", bf16, {M, K}), w1 = p.in("w1", bf16, {N, K}), w2 = p.in("w2", bf16, {K, N});
  Out out = p.out("out", bf16, {M, N});
  Axis m = p.grid(M, 64), n = p.grid(N, 64);
  Var gate = p.zeros(f32, {m, n}), value = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) {
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
  Axis m = p.grid(M, 128), k = p.all(K, 32), q = p.all(Q, 48), r = p.all(R, 16);
  Tile left = a(m, k);
  Var acc = p.zeros(f32, {m, q});
  for (Axis n : p.pipelined(N, 32)) acc += dot(cast(f16, dot(left, b(n, k), k)), c(q, n), n);
  out(m, r) = dot(cast(f16, acc), d(r, q), q);
  return p.finish();
}

/// The gradient of attention's query: dq = scale * (w * (do v^T - delta)) k, with w from the logsumexp.
Program attention_dq() {
  Builder p("attention_dq");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D"), E = p.dim("E");
  In q = p.in("q", bf16, {I, D}), k = p.in("k", bf16, {J, D}), v = p.in("v", bf16, {J, E});
  In grad = p.in("grad", bf16, {I, E}), lse = p.in("lse", f32, {I}), delta = p.in("delta", f32, {I});
  Out dq = p.out("dq", bf16, {I, D});
  Tile scale = p.scalar("scale", f32);
  Axis i = p.grid(I, 128), d = p.all(D, 64), e = p.all(E, 64);
  Tile query = q(i, d), gradient = grad(i, e), row_lse = lse(i), row_delta = delta(i);
  Var acc = p.zeros(f32, {i, d});
  for (Axis j : p.pipelined(J, 64)) {
    Tile keys = k(j, d);
    Tile w = exp2((dot(query, keys, d) * scale - row_lse) * std::numbers::log2e);
    Tile ds = w * (dot(gradient, v(j, e), e) - row_delta) * scale;
    acc += dot(cast(bf16, ds), keys, j);
  }
  dq(i, d) = cast(bf16, acc);
  return p.finish();
}

/// The largest of each row of a product, and its row sums weighted by a third tensor.
Program reduction_of_a_dot() {
  Builder p("reduction_of_a_dot");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", f16, {M, K}), b = p.in("b", f16, {N, K}), c = p.in("c", f32, {M, N});
  Out top = p.out("top", f32, {M}), sums = p.out("sums", f32, {M});
  Axis m = p.grid(M, 64), k = p.all(K, 64);
  Tile rows = a(m, k);
  Var highest = p.full(f32, {m}, -inf), sum = p.zeros(f32, {m});
  for (Axis n : p.pipelined(N, 64)) {
    Tile product = dot(rows, b(n, k), k);
    highest = max(highest, reduce_max(product, n));
    sum += reduce_sum(c(m, n) * product, n);
  }
  top(m) = highest;
  sums(m) = sum;
  return p.finish();
}

}  // namespace

std::vector<Case> role_cases() {
  const Tiles attention{{"i", 128}, {"j", 64}, {"d", 64}, {"e", 64}};
  return {
      linear_case("roles_linear_gelu", bf16, 1, 0, {{"m", 128}, {"n", 64}, {"k", 64}}),
      linear_case("roles_linear_training", bf16, 2, 1, {{"m", 128}, {"n", 128}, {"k", 64}}),
      linear_case("roles_linear_narrow", f16, 0, 1, {{"m", 64}, {"n", 24}, {"k", 32}}),
      attention_case("roles_attention", false, 0, attention),
      attention_case("roles_attention_causal", true, 0, attention),
      attention_case("roles_attention_mask", false, 1, {{"i", 64}, {"j", 32}, {"d", 64}, {"e", 64}}),
      {"roles_dual_gemm", dual_gemm(), {{{{"M", 100}, {"N", 72}, {"K", 136}}}}, 0x1p-7},
      {"roles_three_chained_dots",
       three_chained_dots(),
       {{{{"M", 150}, {"K", 24}, {"N", 72}, {"Q", 48}, {"R", 16}}}},
       0x1p-9},
      {"roles_attention_dq",
       attention_dq(),
       {{{{"I", 150}, {"J", 136}, {"D", 64}, {"E", 56}}, {{"scale", 0.2}}}},
       0x1p-7},
      {"roles_reduction_of_a_dot", reduction_of_a_dot(), {{{{"M", 100}, {"N", 136}, {"K", 56}}}}, 0x1p-9},
      {"roles_split_dot",
       split_dot({.m = 128, .n = 64, .k = 64, .part = 128}),
       {{{{"M", 150}, {"N", 72}, {"K", 328}}},
        {{{"M", 64}, {"N", 8}, {"K", 64}}},
        {{{"M", 3}, {"N", 8}, {"K", 8}}}},
       0x1p-18},
      {"roles_batch_dot",
       batch_dot(false),
       {{{{"Z", 2}, {"M", 150}, {"N", 136}, {"K", 72}, {"T", 1}}}},
       0x1p-18},
      {"roles_batch_dot_sums",
       batch_dot(true),
       {{{{"Z", 2}, {"M", 150}, {"N", 72}, {"K", 72}, {"T", 1}}}},
       0x1p-18},
  };
}

}  // namespace tessera::test
