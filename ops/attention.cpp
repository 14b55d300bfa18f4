#include <algorithm>

#include "ops/operator.h"
#include "ops/shapes.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/online_softmax.h"

/// output[i,:] = softmax_j(scale * query[i,:] . key[j,:] + mask[i,j]) @ value[j,:] in one pass over j; Dao,
/// arXiv 2307.08691. Key j is visible to row i where j <= i + diagonal (causal) and where a boolean mask says
/// so. https://pytorch.org/docs/2.11/generated/torch.nn.functional.scaled_dot_product_attention.html
namespace tessera::ops {
namespace {

using namespace dsl;

enum Mask { kNoMask, kBoolean, kAdded };  // flag "mask"

Program program(const Facts& facts, const Tiles& tiles) {
  bool causal = facts.flags.at("causal") != 0;
  int masked = facts.flags.at("mask");
  bool folded = masked != kAdded && !facts.flags.contains("signed");  // the scale, into the exponential
  DType dtype = facts.tensors.at(0).dtype;

  Builder p("attention");
  Dim B = p.dim("B"), H = p.dim("H"), G = p.dim("G"), I = p.dim("I"), J = p.dim("J"), D = p.dim("D"),
      E = p.dim("E");
  In query = p.in("query", dtype, {B, H, I, D}), key = p.in("key", dtype, {B, G, J, D}),
     value = p.in("value", dtype, {B, G, J, E});
  std::vector<In> mask;
  if (masked != kNoMask) mask.push_back(p.in("mask", facts.tensors.at(3).dtype, {B, H, I, J}));
  Out output = p.out("output", dtype, {B, H, I, E}), logsumexp = p.out("logsumexp", f32, {B, H, I});
  Tile scale = p.scalar("scale", f32), diagonal = p.scalar("diagonal", i64), group = p.scalar("group", i64);

  Tile batch = p.grid(B), head = p.grid(H), kv_head = head / group;
  Axis i = p.grid(I, tiles.at("i")), d = p.all(D, tiles.at("d")), e = p.all(E, tiles.at("e"));
  Tile rows = query(batch, head, i, d);
  Tile last = i.index() + diagonal;  // the last key that each row sees
  Tile stop = causal ? min(J, i.end() + diagonal) : cast(i64, J);
  OnlineSoftmax row = folded ? OnlineSoftmax(p, {i}, scale) : OnlineSoftmax(p, {i});
  Var acc = p.zeros(f32, {i, e});
  for (Axis j : p.pipelined(J, tiles.at("j"), 0, stop)) {
    Tile products = dot(rows, key(batch, kv_head, j, d), d);
    Tile scores = folded ? products : products * scale;
    Tile added = masked == kAdded ? scores + mask.front()(batch, head, i, j) : scores;
    Tile chosen = masked == kBoolean ? where(mask.front()(batch, head, i, j), added, -inf) : added;
    Tile weights = row.weights(causal ? where(j.index() <= last, chosen, -inf) : chosen, j);
    acc = rescale(acc, row.keep()) + dot(cast(dtype, weights), value(batch, kv_head, j, e), j);
  }
  output(batch, head, i, e) = cast(dtype, acc * row.inverse_total());
  logsumexp(batch, head, i) = row.logsumexp();
  return p.finish();
}

/// Warpgroups of 64 rows, one's softmax under the other's dots: two, or more where rows are short, so that
/// their sums leave the registers for it; one for few rows, and for short sequences. Of long rows, or beside
/// a mask, a step's scores are fewer. What computes the fewest rows past the last one comes first.
void offer_warpgroups(std::int64_t rows, int d, int e, bool masked, std::vector<Variant>& variants) {
  bool wide = std::max(d, e) > 128, narrow = std::max(d, e) <= 64;
  int stages = narrow ? 4 : 2, keys = 128 / (wide ? 2 : 1) / (masked ? 2 : 1);
  auto offer = [&](int groups, int j, Share share) {
    Schedule schedule{.stages = stages, .groups = groups, .share = share};
    variants.push_back({{{"i", 64 * groups}, {"j", j}, {"d", d}, {"e", e}}, schedule});
  };
  if (rows <= 64) return offer(1, keys, Share::automatic);
  if (narrow && !masked) {
    offer(3, 128, Share::together);
    offer(4, 64, Share::together);
  }
  offer(2, keys, Share::turns);
  if (!narrow) offer(2, keys, Share::together);
  constexpr int kShort = 512;  // rows of which tiles of 128 are too few to fill a GPU
  if (rows <= kShort && !wide) offer(1, 64, Share::automatic);
  auto quarters = [&](const Variant& v) {  // of the rows, computed
    std::int64_t tile = v.tiles.at("i");
    return 4 * ((rows + tile - 1) / tile * tile) / rows;
  };
  std::stable_sort(variants.begin(), variants.end(),
                   [&](const Variant& a, const Variant& b) { return quarters(a) < quarters(b); });
}

/// Warps of 16 rows or 32 on mma.sync, which take every layout; for few rows the warps share the columns, and
/// for wide rows beside a mask. What of registers and shared memory does not hold a step of 64 keys goes by
/// fewer.
void offer_warps(const Problem& problem, const Target& target, int d, int e, std::vector<Variant>& variants) {
  const std::int64_t rows = size(problem, "I");
  const bool masked = problem.facts.flags.at("mask") != kNoMask;
  const auto& tensors = problem.facts.tensors;
  const bool aligned = std::all_of(tensors.begin(), tensors.begin() + 3,
                                   [](const TensorFacts& t) { return t.alignment >= 16; });
  const int width = std::max(d, e);
  auto offer = [&](int i, int j, int warps) {
    variants.push_back({{{"i", i}, {"j", j}, {"d", d}, {"e", e}}, {.warps = warps}});
  };
  if (rows <= 16 || (masked && width > 192)) return offer(16, 64, e % 64 == 0 ? 4 : e % 32 == 0 ? 2 : 1);
  if (width > 128) return offer(64, width > 192 ? 32 : 16, 4);
  const bool narrow = width <= 64, beside = masked || !aligned;
  if (rows > 64 && (narrow || !beside)) offer(128, beside || target.major >= 10 ? 32 : narrow ? 64 : 48, 4);
  if (!masked) offer(64, 64, 4);
  offer(64, 32, 4);
}

/// By FMA: what registers hold without spilling, and the shared memory of sm_86 and sm_120a.
void offer_threads(std::int64_t rows, int d, int e, std::vector<Variant>& variants) {
  auto offer = [&](int i, int j, int warps) {
    variants.push_back({{{"i", i}, {"j", j}, {"d", d}, {"e", e}}, {.warps = warps}});
  };
  if (std::max(d, e) > 128) return offer(16, 16, 4);
  if (rows > 16) {
    offer(64, 64, 8);
    offer(32, 32, 4);
  }
  offer(16, 32, 4);
}

std::vector<Variant> space(const Problem& problem, const Target& target) {
  const auto head_dims = {16, 32, 64, 96, 128, 192, 256};
  const std::int64_t rows = size(problem, "I");
  const int d = covering(size(problem, "D"), head_dims), e = covering(size(problem, "E"), head_dims);
  std::vector<Variant> variants;
  if (size_of(problem.facts.tensors.front().dtype) != 2) {
    offer_threads(rows, d, e, variants);
    return variants;
  }
  if (feeds_warpgroups(problem, target, 3))
    offer_warpgroups(rows, d, e, problem.facts.flags.at("mask") != kNoMask, variants);
  offer_warps(problem, target, d, e, variants);
  return variants;
}

double pairs(const Problem& problem) {
  double I = static_cast<double>(size(problem, "I"));
  double J = static_cast<double>(size(problem, "J"));
  double all = static_cast<double>(size(problem, "B")) * static_cast<double>(size(problem, "H")) * I * J;
  return problem.facts.flags.at("causal") != 0 ? all / 2 : all;  // flash-attention's convention
}

double flops(const Problem& problem) {
  return 2 * pairs(problem) * static_cast<double>(size(problem, "D") + size(problem, "E"));
}

}  // namespace

const Operator& attention() {
  static const Operator kOperator{"attention", program, space, flops, /*has_dots=*/true};
  return kOperator;
}

}  // namespace tessera::ops
