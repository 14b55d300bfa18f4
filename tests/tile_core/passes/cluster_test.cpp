#include "tile_core/passes/cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tests/tile_core/passes/visits.h"
#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/operands.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using namespace dsl;
using test::Visit;

/// c[h, m, n] = a[h, m, k] * b[n, k], in tiles.
Program product(int m, int n, int k) {
  Builder p("product");
  Dim H = p.dim("H"), M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {H, M, K}), b = p.in("b", bf16, {N, K});
  Out c = p.out("c", f32, {H, M, N});
  Tile at = p.grid(H);
  Axis rows = p.grid(M, m), columns = p.grid(N, n);
  Var acc = p.zeros(f32, {rows, columns});
  for (Axis over : p.pipelined(K, k)) acc += dot(a(at, rows, over), b(columns, over), over);
  c(at, rows, columns) = acc;
  return p.finish();
}

/// c[h, m, n] = a[h, m, k] * b[n, k] for all columns, of which there are up to `n`.
Program columns_alone(int n) {
  Builder p("columns_alone");
  Dim H = p.dim("H"), M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {H, M, K}), b = p.in("b", bf16, {N, K});
  Out c = p.out("c", f32, {H, M, N});
  Tile at = p.grid(H);
  Axis rows = p.all(M, 64), columns = p.all(N, n);
  Var acc = p.zeros(f32, {rows, columns});
  for (Axis over : p.pipelined(K, 64)) acc += dot(a(at, rows, over), b(columns, over), over);
  c(at, rows, columns) = acc;
  return p.finish();
}

/// out[z, m, n] += a[m, k] * b[z, n, k] + bias[z, n], of which there are more than z.
Program sums_along_another_dim() {
  Builder p("sums_along_another_dim");
  Dim Z = p.dim("Z"), B = p.dim("B"), M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {Z, N, K}), bias = p.in("bias", f32, {B, N});
  Out out = p.out("out", f32, {B, M, N});
  Tile z = p.grid(Z);
  Axis m = p.all(M, 128), n = p.all(N, 64);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) acc += dot(a(m, k), b(z, n, k), k);
  out(z, m, n) += acc + bias(z, n);
  return p.finish();
}

/// The product, and beside it that of the upper left triangle of a second pair: its loop is longer the
/// further down the rows are.
Program product_and_triangle() {
  Builder p("product_and_triangle");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K"), L = p.dim("L");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  In u = p.in("u", bf16, {M, L}), v = p.in("v", bf16, {N, L});
  Out c = p.out("c", f32, {M, N});
  Axis rows = p.grid(M, 64), columns = p.grid(N, 256);
  Var acc = p.zeros(f32, {rows, columns});
  for (Axis k : p.pipelined(K, 64)) acc += dot(a(rows, k), b(columns, k), k);
  for (Axis l : p.pipelined(L, 64, 0, min(L, rows.end()))) acc += dot(u(rows, l), v(columns, l), l);
  c(rows, columns) = acc;
  return p.finish();
}

PassContext context_of(const Program& p, Schedule schedule) {
  PassContext context{{}, schedule, Target::named("sm_90a")};
  for (const TensorDecl& tensor : p.tensors) {
    const int last = static_cast<int>(tensor.dims.size()) - 1;
    context.facts.tensors.push_back({.dtype = tensor.dtype, .contiguous_dim = last, .alignment = 16});
  }
  return context;
}

constexpr Schedule kPairs = {.stages = 2, .cluster = 2};

std::string axis_of(const Program& p, const Cluster& cluster) {
  return cluster.axis == AxisId::none ? "none" : p.axis(cluster.axis).name;
}

std::string chosen(const Program& p) {
  return axis_of(p, cluster_of(p, context_of(p, kPairs)));
}

TEST(Cluster, IsAlongTheAxisThatMostOfTheStreamDoesNotDependOn) {
  EXPECT_EQ(chosen(product(64, 128, 64)), "m");
  EXPECT_EQ(chosen(product(128, 64, 64)), "n");
  EXPECT_EQ(chosen(product(128, 128, 64)), "m") << "of equal ones the longest, then the slowest";
  EXPECT_EQ(chosen(test::named_case("roles_attention").program), "i");
}

/// That of the most bytes is out where one loop of several differs along it.
TEST(Cluster, IsAlongAnAxisOfWhichNoLoopDepends) {
  EXPECT_EQ(chosen(product_and_triangle()), "n");
}

TEST(Cluster, IsNoneWhereTheScheduleAsksForNone) {
  Program p = product(128, 128, 64);
  for (int blocks : {0, 1}) {
    PassContext context = context_of(p, {.cluster = blocks});
    EXPECT_EQ(cluster_of(p, context), Cluster());
    EXPECT_EQ(why_no_cluster(p, context), "");
  }
}

std::string error_of(const Program& program, const PassContext& context) {
  try {
    lower(program, context);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Cluster, SaysWhyThereIsNone) {
  Program causal = test::named_case("roles_attention_causal").program;
  EXPECT_EQ(
      error_of(causal, context_of(causal, kPairs)),
      "tile error: schedule 'stages=2 cluster=2' is illegal for 'attention' on sm_90a\n"
      "   blocks of a cluster share copies: cluster is 2, but along 'b' no two tiles stream the same to a "
      "dot, along 'h' no two tiles stream the same to a dot, along 'i' loops run longer for some tiles "
      "than for others");
  Program narrow = columns_alone(24);
  EXPECT_EQ(
      error_of(narrow, context_of(narrow, kPairs)),
      "tile error: schedule 'stages=2 cluster=2' is illegal for 'columns_alone' on sm_90a\n"
      "   blocks of a cluster share copies: cluster is 2, but along 'h' the boxes that are the same do not "
      "divide into 2 parts of whole 8 rows");
  Program sums = test::named_case("roles_batch_dot_sums").program;
  EXPECT_EQ(error_of(sums, context_of(sums, kPairs)),
            "tile error: schedule 'stages=2 cluster=2' is illegal for 'batch_dot' on sm_90a\n"
            "   blocks of a cluster share copies: cluster is 2, but along 'z' a tile beyond the last would "
            "be added to an output that is not indexed with it, along 'm' a tile beyond the last would be "
            "added to an output that is not indexed with it, along 'n' a tile beyond the last would be added "
            "to an output that is not indexed with it");
  const Program another = sums_along_another_dim();
  EXPECT_EQ(
      error_of(another, context_of(another, kPairs)),
      "tile error: schedule 'stages=2 cluster=2' is illegal for 'sums_along_another_dim' on sm_90a\n"
      "   blocks of a cluster share copies: cluster is 2, but along 'z' a tile beyond the last would be "
      "added to an output that is not indexed with it");
  PassContext old = context_of(narrow, kPairs);
  old.target = Target::named("sm_80");
  EXPECT_EQ(error_of(narrow, old),
            "tile error: schedule 'stages=2 cluster=2' is illegal for 'columns_alone' on sm_80\n"
            "   warpgroups do dots: cluster=2 is for wgmma, and dots are not: sm_80 has no wgmma");
}

/// Blocks of a cluster visit neighbours in the same step, and all tiles are visited, some beyond the last.
void walks_in_pairs(const Program& p, Schedule schedule, const test::Sizes& sizes) {
  PassContext context = context_of(p, schedule);
  Program mapped = map_grid(simplify(p, context), context);
  const std::size_t along = 1;  // of the grid's axes: the rows
  ASSERT_EQ(axis_of(mapped, mapped.launch.cluster), "m");
  for (std::int64_t blocks : {2, 6, 1000}) {
    std::set<std::vector<std::int64_t>> seen;
    std::vector<std::vector<Visit>> all = test::visits(mapped, sizes, blocks);
    ASSERT_EQ(all.size() % 2, 0U);
    for (std::size_t first = 0; first < all.size(); first += 2) {
      ASSERT_EQ(all[first].size(), all[first + 1].size());
      for (std::size_t i = 0; i < all[first].size(); ++i) {
        std::vector<std::int64_t> tile = all[first][i].tile, other = all[first + 1][i].tile;
        EXPECT_TRUE(seen.insert(tile).second && seen.insert(other).second);
        EXPECT_EQ(tile[along] % 2, 0);
        ++tile[along];
        EXPECT_EQ(tile, other);
        EXPECT_EQ(all[first][i].trips, all[first + 1][i].trips);
      }
    }
    EXPECT_EQ(seen.size(), 2U * 4 * 3);  // of 2 x 3 x 3 tiles, and a row more
  }
}

TEST(Cluster, BlocksVisitNeighboursInTheSameStep) {
  const test::Sizes sizes{{{"H", 2}, {"M", 64 * 2 + 1}, {"N", 128 * 3}, {"K", 100}}, {}};
  Program p = product(64, 128, 64);
  walks_in_pairs(p, kPairs, sizes);
  walks_in_pairs(p, {.stages = 2, .raster = 2, .cluster = 2}, sizes);
  walks_in_pairs(p, {.stages = 2, .raster = 1, .cluster = 2}, sizes);
}

/// What is the same for both blocks of a pair is copied by halves, everything else by each for itself.
TEST(Cluster, HalvesOfWhatIsSharedAreMulticast) {
  Program p = product(64, 128, 64);
  std::map<std::string, std::pair<bool, int>> copies;  // by tensor: multicast, and the rows of a box
  Program ready = lower(p, context_of(p, kPairs));
  for_each_inst(ready.body, [&](const Inst& inst) {
    const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
    if (copy == nullptr) return;
    const std::vector<Subscript>& subscripts = copy->load.subscripts;
    const AxisId rows = subscripts[subscripts.size() - 2].axis;
    copies[ready.tensor(copy->load.tensor).name] = {copy->multicast, ready.axis(rows).extent};
  });
  EXPECT_EQ(copies, (decltype(copies){{"a", {false, 64}}, {"b", {true, 64}}}));
}

}  // namespace
}  // namespace tessera
