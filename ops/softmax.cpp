#include <algorithm>
#include <numbers>

#include "ops/operator.h"
#include "ops/shapes.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/online_softmax.h"

/// out[o,n,i] = exp(x[o,n,i]) / sum_n exp(x[o,n,i]), as torch.nn.functional.softmax; a row of -inf gives NaN.
/// https://pytorch.org/docs/2.11/generated/torch.nn.functional.softmax.html
namespace tessera::ops {
namespace {

using namespace dsl;

constexpr int kLongestResident = 16384;  // elements of a row that a block holds in registers

/// The tensors of a call: dims O0 .., then N, then I where something lies inside of the reduced dim.
struct Rows {
  Rows(Builder& p, const Facts& facts) : inner(facts.flags.at("inner") != 0) {
    for (int i = 0; i < facts.flags.at("outer"); ++i) dims.push_back(p.dim("O" + std::to_string(i)));
    dims.push_back(p.dim("N"));
    if (inner) dims.push_back(p.dim("I"));
  }

  const Dim& reduced() const { return dims[dims.size() - (inner ? 2 : 1)]; }

  /// Positions of one block: the last of the outer dims is tiled by row, the others index by index.
  std::vector<Position> blocks(Builder& p, const Tiles& tiles, std::vector<Axis>& rows) const {
    std::vector<Position> at;
    std::size_t outer = dims.size() - (inner ? 2 : 1);
    for (std::size_t i = 0; i + 1 < outer; ++i) at.emplace_back(p.grid(dims[i]));
    rows.push_back(p.grid(dims[outer - 1], tiles.at("row")));
    at.emplace_back(rows.back());
    if (inner) rows.push_back(p.grid(dims.back(), tiles.at("inner")));
    return at;
  }

  std::vector<Position> with(std::vector<Position> at, const Axis& n, const std::vector<Axis>& rows) const {
    at.emplace_back(n);
    if (inner) at.emplace_back(rows.back());
    return at;
  }

  bool inner;
  std::vector<Dim> dims;
};

/// The input in f32, cast to the result's dtype first, as ATen casts it: f32 holds what 16 bits do.
Tile scores(const Tile& x, DType result) {
  const bool rounds = result != f32 && result != x.type().dtype;
  return cast(f32, rounds ? cast(result, x) : x);
}

Tile weights(const Tile& x, const Tile& top) {
  return exp2((x - top) * std::numbers::log2e);
}

/// The row stays in registers: one read, one write.
Program resident(const Facts& facts, const Tiles& tiles) {
  Builder p("softmax");
  Rows r(p, facts);
  In in = p.in("self", facts.tensors.at(0).dtype, r.dims);
  Out out = p.out("out", facts.tensors.at(1).dtype, r.dims);
  std::vector<Axis> rows;
  std::vector<Position> block = r.blocks(p, tiles, rows);
  Axis n = p.all(r.reduced(), tiles.at("n"));
  std::vector<Position> at = r.with(block, n, rows);
  Tile x = scores(in.at(at), facts.tensors[1].dtype);
  Tile weight = weights(x, reduce_max(x, n));
  out.at(at) = cast(facts.tensors[1].dtype, weight * (1 / reduce_sum(weight, n)));
  return p.finish();
}

/// Any length of row: one pass for the maximum and the sum, one for the result.
Program streaming(const Facts& facts, const Tiles& tiles) {
  Builder p("softmax");
  Rows r(p, facts);
  In in = p.in("self", facts.tensors.at(0).dtype, r.dims);
  Out out = p.out("out", facts.tensors.at(1).dtype, r.dims);
  std::vector<Axis> rows;
  std::vector<Position> block = r.blocks(p, tiles, rows);
  const DType dtype = facts.tensors[1].dtype;
  OnlineSoftmax row(p, rows);
  for (Axis n : p.pipelined(r.reduced(), tiles.at("n")))
    row.weights(scores(in.at(r.with(block, n, rows)), dtype), n);
  Tile scale = 1 / row.total();
  for (Axis n : p.pipelined(r.reduced(), tiles.at("n"))) {
    std::vector<Position> at = r.with(block, n, rows);
    out.at(at) = cast(dtype, row.weights_so_far(scores(in.at(at), dtype)) * scale);
  }
  return p.finish();
}

Program program(const Facts& facts, const Tiles& tiles) {
  return tiles.at("resident") != 0 ? resident(facts, tiles) : streaming(facts, tiles);
}

std::vector<Variant> space(const Problem& problem, const Target&) {
  std::int64_t N = size(problem, "N");
  bool inner = problem.facts.flags.at("inner") != 0;
  std::vector<Variant> variants;
  auto offer = [&](int row, int n, int lanes_inner, bool resident, int warps) {
    Tiles tiles{{"row", row}, {"n", n}, {"resident", resident ? 1 : 0}};
    if (inner) tiles["inner"] = lanes_inner;
    variants.push_back({tiles, {.warps = warps}});
  };
  if (inner) {
    int lanes = covering(size(problem, "I"), {8, 32, 64});
    if (N <= 256) offer(1, covering(N, {8, 16, 32, 64, 128, 256}), lanes, true, 4);
    offer(1, 64, lanes, false, 4);
    return variants;
  }
  int n = covering(N, {32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, kLongestResident});
  if (N <= kLongestResident) {
    constexpr int kElementsPerWarp = 1024;  // 32 a thread
    constexpr int kFewestWarps = 4;
    int rows = std::max(1, kFewestWarps * kElementsPerWarp / n);
    int warps = covering((n + kElementsPerWarp - 1) / kElementsPerWarp, {kFewestWarps, 8, 16});
    offer(rows, n, 1, true, warps);
    if (rows > 1) offer(rows / 2, n, 1, true, warps);
    if (n >= 2 * kElementsPerWarp && warps < 16) offer(1, n, 1, true, 2 * warps);
  }
  offer(1, 4096, 1, false, 8);
  return variants;
}

double flops(const Problem& problem) {
  constexpr double kPerElement = 5;  // maximum, difference, exponential, sum, product
  double elements = kPerElement;
  for (const auto& [name, size] : problem.dims) elements *= static_cast<double>(size);
  return elements;
}

}  // namespace

const Operator& softmax() {
  static const Operator kOperator{"softmax", program, space, flops};
  return kOperator;
}

}  // namespace tessera::ops
