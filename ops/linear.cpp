#include <algorithm>
#include <cmath>

#include "ops/operator.h"
#include "ops/shapes.h"
#include "tile_core/dsl/math.h"

/// out[m,n] = activation(sum_k input[m,k] * weight[n,k] + bias[n]), nothing rounded before the activation.
/// https://pytorch.org/docs/2.11/generated/torch.nn.functional.linear.html and torch.nn.functional.gelu.html
namespace tessera::ops {
namespace {

using namespace dsl;

enum Activation { kNone, kErf, kTanh };  // flag "gelu"

/// Of f32 in TF32, where the call allows it: flag "tf32", which other calls lack.
bool in_tf32(const Facts& facts) {
  return facts.flags.contains("tf32");
}

Program program(const Facts& facts, const Tiles& tiles) {
  bool has_bias = facts.flags.at("bias") != 0;
  bool keeps = facts.flags.at("preactivation") != 0;  // training: backward needs what the activation saw
  int activation = facts.flags.at("gelu");
  DType dtype = facts.tensors.at(0).dtype;
  Precision precision = in_tf32(facts) ? Precision::tf32 : Precision::ieee;

  Builder p(activation == kNone ? "linear" : "linear_gelu");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In input = p.in("input", dtype, {M, K}), weight = p.in("weight", dtype, {N, K});
  std::vector<In> bias;
  if (has_bias) bias.push_back(p.in("bias", dtype, {N}));
  Out out = p.out("out", dtype, {M, N});

  Axis m = p.grid(M, tiles.at("m")), n = p.grid(N, tiles.at("n"));
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, tiles.at("k"))) acc += dot(input(m, k), weight(n, k), k, precision);
  if (has_bias) acc += bias.front()(n);
  if (keeps) p.out("preactivation", dtype, {M, N})(m, n) = cast(dtype, acc);
  if (activation == kErf) acc = gelu(acc, dtype);
  if (activation == kTanh) acc = gelu_tanh(acc, dtype);
  out(m, n) = cast(dtype, acc);
  return p.finish();
}

/// Blocks on the tensor cores. `rate` is the share of theirs that one block of many reaches (perf/results,
/// records of the H200).
struct Blocks {
  int m, n, k;
  Schedule schedule;
  double rate;

  /// What the slowest of an H200's multiprocessors does, by the model that a tile's dots take their share of
  /// the time and an epilogue that nothing hides as long as 150 more of the depth. The blocks of a cluster
  /// come in pairs of rows.
  double cost(double M, double N, double K) const {
    constexpr double kMultiprocessors = 132, kEpilogue = 150;
    const double rows = std::max(1, schedule.cluster);
    double tiles = std::ceil(M / (rows * m)) * rows * std::ceil(N / n);
    double rounds = std::ceil(tiles / kMultiprocessors);
    bool hidden = schedule.share == Share::alternate;
    return rounds * m * n * (K + (hidden ? 0 : kEpilogue)) / rate;
  }
};

/// Whether much follows the dots: GELU in fp32 arithmetic takes as many registers as 64 of 192 sums, and so
/// does a second output.
bool is_long(const Problem& problem) {
  bool exact = problem.facts.flags.at("gelu") != kNone && problem.facts.tensors.front().dtype != bf16;
  return exact || problem.facts.flags.at("preactivation") != 0;
}

/// Whether a thread of a warpgroup that keeps so many sums has registers for what follows the dots. Where
/// elements are stored one by one, their addresses take the rest.
bool fits_beside(int sums, const Problem& problem) {
  return !is_long(problem) || (sums < 192 && takes_bulk_copies(problem.facts.tensors.back()));
}

/// The cheapest first.
void offer(std::vector<Blocks> all, const Problem& problem, std::vector<Variant>& variants) {
  double M = static_cast<double>(size(problem, "M")), N = static_cast<double>(size(problem, "N")),
         K = static_cast<double>(size(problem, "K"));
  std::stable_sort(all.begin(), all.end(),
                   [&](const Blocks& a, const Blocks& b) { return a.cost(M, N, K) < b.cost(M, N, K); });
  for (const Blocks& b : all) variants.push_back({{{"m", b.m}, {"n", b.n}, {"k", b.k}}, b.schedule});
}

/// Whole warpgroups on wgmma. Two that alternate hide one's epilogue under the other's dots; two on one tile
/// load less for each; a single one is for few rows, or for few tiles in clusters.
void offer_warpgroups(const Problem& problem, std::vector<Variant>& variants) {
  if (!fits_beside(128, problem)) return;
  int kept = problem.facts.flags.at("preactivation");  // whose slices take a stage's shared memory
  std::vector<Blocks> all = {{64, 128, 64, {.stages = 8, .groups = 1}, 0.55}};
  if (size(problem, "M") > 64) {
    all.push_back({64, 128, 64, {.stages = 8, .groups = 1, .cluster = 2}, 0.6});
    if (fits_beside(192, problem))
      all.push_back({128, 192, 64, {.stages = 4, .groups = 2, .share = Share::alternate}, 1});
    all.push_back({128, 128, 64, {.stages = 6 - kept, .groups = 2, .share = Share::alternate}, 0.93});
    all.push_back({128, 256, 64, {.stages = 4 - kept, .groups = 2, .share = Share::together}, 0.98});
    all.push_back({128, 128, 64, {.stages = 6 - kept, .groups = 2, .share = Share::together}, 0.93});
  }
  offer(std::move(all), problem, variants);
}

/// Warps on mma.sync, which take every layout: of 64 x 64 sums where few instructions follow and no row
/// begins between words: what realigns it takes registers too, and time, which deep steps share. Of f32 the
/// steps are half as deep: as many bytes. One block of 128 x 256 has no other to hide its waits: 4 stages
/// where shared memory holds them.
void offer_warps(const Problem& problem, const Target& target, std::vector<Variant>& variants) {
  const std::int64_t M = size(problem, "M");
  const int words = size_of(problem.facts.tensors[0].dtype) / 2;
  bool aligned = problem.facts.tensors[0].alignment >= 4 && problem.facts.tensors[1].alignment >= 4;
  std::vector<Blocks> all = {{16, 64, 64, {.stages = 4, .warps = 4}, 0.1}};
  if (M > 16 && aligned) all.push_back({64, 64, 32, {.stages = 4, .warps = 4}, 0.3});
  if (M > 16 && !aligned) all.push_back({64, 64, 64, {.stages = 2, .warps = 4}, 0.2});
  if (M > 64 && aligned) all.push_back({64, 128, 32, {.stages = 4, .warps = is_long(problem) ? 8 : 4}, 0.4});
  if (M > 64 && aligned && !is_long(problem)) {
    all.push_back({128, 128, 64, {.stages = 3, .warps = 4}, 0.48});
    constexpr int kStage = (128 + 256) * 64 * 2;  // bytes
    all.push_back({128, 256, 64, {.stages = 4 * kStage <= target.shared_bytes ? 4 : 3, .warps = 8}, 0.5});
  }
  for (Blocks& blocks : all) blocks.k /= words;
  offer(std::move(all), problem, variants);
}

/// By FMA.
void offer_threads(const Problem& problem, std::vector<Variant>& variants) {
  const std::int64_t M = size(problem, "M"), N = size(problem, "N");
  constexpr int kDepth = 16;
  constexpr auto kManyTiles = std::int64_t{64} * 128 * 128;
  auto offer = [&](int m, int n, int warps) {
    variants.push_back({{{"m", m}, {"n", n}, {"k", kDepth}}, {.warps = warps}});
  };
  if (M > 64 && N > 64 && M * N >= kManyTiles) offer(128, 128, 8);
  if (M > 16) offer(64, 64, 4);
  offer(16, 64, 2);
}

std::vector<Variant> space(const Problem& problem, const Target& target) {
  std::vector<Variant> variants;
  if (size_of(problem.facts.tensors.front().dtype) != 2 && !in_tf32(problem.facts)) {
    offer_threads(problem, variants);
    return variants;
  }
  if (feeds_warpgroups(problem, target, 2)) offer_warpgroups(problem, variants);
  offer_warps(problem, target, variants);
  return variants;
}

double flops(const Problem& problem) {
  return 2.0 * static_cast<double>(size(problem, "M")) * static_cast<double>(size(problem, "N")) *
         static_cast<double>(size(problem, "K"));
}

}  // namespace

const Operator& linear() {
  static const Operator kOperator{"linear", program, space, flops, /*has_dots=*/true};
  return kOperator;
}

}  // namespace tessera::ops
