#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include "tessera/register_operator.h"
#include "tests/gpu/gpu.h"

/// Programs of users that add tiles to their outputs: by the copy engine from warpgroups, by warps, by
/// threads.
namespace tessera::test {
namespace {

using namespace dsl;

/// out = a b^T, the contracted dim split over the grid; and its sums over n, those of bias over blocks.
Program split_dot(const std::vector<DType>& dtypes) {
  Builder p("split_dot");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", dtypes.at(0), {M, K}), b = p.in("b", dtypes.at(1), {N, K}), bias = p.in("bias", f32, {N});
  Out out = p.out("out", f32, {M, N}), rows = p.out("rows", f32, {M}), biases = p.out("biases", f32, {N});
  Axis m = p.grid(M, 128), n = p.grid(N, 64), part = p.grid(K, 256);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64, part.start(), min(part.end(), K))) acc += dot(a(m, k), b(n, k), k);
  out(m, n) += acc;
  rows(m) += reduce_sum(acc, n);
  biases(n) += bias(n);
  return p.finish();
}

/// out = sum_z a[z] b[z]^T, a block for each z
Program batch_dot(const std::vector<DType>& dtypes) {
  Builder p("batch_dot");
  Dim Z = p.dim("Z"), M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", dtypes.at(0), {Z, M, K}), b = p.in("b", dtypes.at(1), {Z, N, K});
  Out out = p.out("out", f32, {M, N});
  Tile z = p.grid(Z);
  Axis m = p.grid(M, 128), n = p.grid(N, 128);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) acc += dot(a(z, m, k), b(z, n, k), k);
  out(m, n) += acc;
  return p.finish();
}

/// out[place[i], n] += x[i, n]
Program scattered(const std::vector<DType>& dtypes) {
  Builder p("scattered");
  Dim I = p.dim("I"), N = p.dim("N"), R = p.dim("R");
  In place = p.in("place", dtypes.at(0), {I}), x = p.in("x", dtypes.at(1), {I, N});
  p.in("like", f32, {R});
  Out out = p.out("out", f32, {R, N});
  Tile i = p.grid(I);
  Axis n = p.grid(N, 256);
  out(place(i), n) += x(i, n);
  return p.finish();
}

double largest(const at::Tensor& x) {
  return x.numel() == 0 ? 0 : x.abs().max().item<double>();
}

/// f32 sums in any order.
void expect_sum(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& of_magnitudes,
                const std::string& name) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << name;
  const double allowed = 1e-5 * largest(of_magnitudes);
  EXPECT_LE(largest(actual.to(at::kDouble) - expected), allowed) << name;
}

struct Way {
  const char* name;
  const char* schema;
  Schedule schedule = {};
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class SplitSums : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(
    Ways, SplitSums,
    ::testing::Values(
        Way{"automatic", "gpu_test::split(Tensor a, Tensor b, Tensor bias) -> (Tensor, Tensor, Tensor)"},
        Way{"once",
            "gpu_test::split_once(Tensor a, Tensor b, Tensor bias) -> (Tensor, Tensor, Tensor)",
            {.grid = Grid::once}},
        Way{"warps",
            "gpu_test::split_warps(Tensor a, Tensor b, Tensor bias) -> (Tensor, Tensor, Tensor)",
            {.warps = 8}}),
    [](const auto& info) { return std::string(info.param.name); });

/// Of bf16 by tensor cores, of f32 by FMA; for the copy engine and not, ragged, and with nothing to add.
TEST_P(SplitSums, AreWhole) {
  TESSERA_NEEDS_GPU();
  const UserOperator op = register_operator(GetParam().schema, split_dot, {.schedule = GetParam().schedule});
  for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat}) {
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
             {300, 200, 1000}, {128, 64, 4096}, {77, 45, 513}, {1, 8, 8}, {64, 64, 0}}) {
      dirty_allocator();
      const at::Tensor a = normal({m, k}, dtype, 1), b = normal({n, k}, dtype, 2),
                       bias = normal({n}, at::kFloat, 3);
      const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
      const at::Tensor product = x.matmul(y.t()), magnitudes = x.abs().matmul(y.abs().t());
      const auto tiles = static_cast<double>((m + 127) / 128 * ((k + 255) / 256));
      for (int repeat = 0; repeat < 2; ++repeat) {
        const std::vector<at::Tensor> out = op.call({a, b, bias});
        const std::string name = fmt::format("{} {}x{}x{}", toString(dtype), m, n, k);
        expect_sum(out[0], product, magnitudes, name + " out");
        expect_sum(out[1], product.sum(1), magnitudes.sum(1), name + " rows");
        expect_sum(out[2], bias.to(at::kDouble) * tiles, bias.to(at::kDouble) * tiles, name + " biases");
      }
    }
  }
}

class BatchSums : public ::testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(
    Ways, BatchSums,
    ::testing::Values(
        Way{"together", "gpu_test::batch_together(Tensor a, Tensor b) -> Tensor", {.share = Share::together}},
        Way{"alternate",
            "gpu_test::batch_alternate(Tensor a, Tensor b) -> Tensor",
            {.share = Share::alternate}},
        Way{"cluster", "gpu_test::batch_cluster(Tensor a, Tensor b) -> Tensor", {.cluster = 2}}),
    [](const auto& info) { return std::string(info.param.name); });

/// From warpgroups by the copy engine, of tiles that meet in one place.
TEST_P(BatchSums, AreWhole) {
  TESSERA_NEEDS_GPU();
  const UserOperator op = register_operator(GetParam().schema, batch_dot, {.schedule = GetParam().schedule});
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{300, 200, 64}, {1024, 512, 520}}) {
    dirty_allocator();
    const at::Tensor a = normal({17, m, k}, at::kBFloat16, 1), b = normal({17, n, k}, at::kBFloat16, 2);
    const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble).transpose(1, 2);
    const at::Tensor magnitudes = x.abs().matmul(y.abs()).sum(0);
    for (int repeat = 0; repeat < 2; ++repeat)
      expect_sum(op(a, b), x.matmul(y).sum(0), magnitudes, fmt::format("{}x{}x{}", m, n, k));
  }
}

TEST(ScatteredSums, MeetInOnePlace) {
  TESSERA_NEEDS_GPU();
  const UserOperator op =
      register_operator("gpu_test::scattered(Tensor place, Tensor x, Tensor like) -> Tensor", scattered);
  for (const std::int64_t n : {1024, 333}) {
    const at::Tensor x = normal({500, n}, at::kFloat, 1);
    const at::Tensor place = (at::arange(500, x.options().dtype(at::kLong)) * 7) % 13;
    const at::Tensor expected =
        at::zeros({16, n}, x.options().dtype(at::kDouble)).index_add(0, place, x.to(at::kDouble));
    dirty_allocator();
    expect_sum(op(place, x, at::zeros({16}, x.options())), expected, x.to(at::kDouble) * 40, "scattered");
  }
}

/// The outputs are set to 0 in the graph, so that every replay gives the sums and not what was there and
/// they.
TEST(ScatteredSums, StartAsZeroInEveryReplayOfAGraph) {
  TESSERA_NEEDS_GPU();
  const UserOperator op =
      register_operator("gpu_test::captured(Tensor place, Tensor x, Tensor like) -> Tensor", scattered);
  const at::Tensor x = normal({64, 512}, at::kFloat, 1), like = at::zeros({16}, x.options()),
                   place = at::zeros({64}, x.options().dtype(at::kLong));
  const at::Tensor expected = x.to(at::kDouble).sum(0);
  op(place, x, like);
  const OtherStream stream;
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const at::Tensor out = op(place, x, like);
  graph.capture_end();
  for (int replay = 0; replay < 3; ++replay) {
    graph.replay();
    c10::cuda::getCurrentCUDAStream().synchronize();
    expect_sum(out[0], expected, expected.abs() + 8, "replay");
    EXPECT_EQ(largest(out.slice(0, 1)), 0);
  }
}

TEST(ScatteredSums, AreNotDeterministicAndSaySo) {
  TESSERA_NEEDS_GPU();
  const UserOperator op =
      register_operator("gpu_test::reported(Tensor place, Tensor x, Tensor like) -> Tensor", scattered);
  const at::Tensor x = normal({64, 512}, at::kFloat, 1), like = at::zeros({16}, x.options()),
                   place = at::zeros({64}, x.options().dtype(at::kLong));
  at::globalContext().setDeterministicAlgorithms(true, false);
  std::string error = "no error";
  try {
    op(place, x, like);
  } catch (const c10::Error& e) {
    error = e.what_without_backtrace();
  }
  at::globalContext().setDeterministicAlgorithms(false, false);
  EXPECT_EQ(error.substr(0, error.find(", but")),
            "gpu_test::reported does not have a deterministic implementation");
}

}  // namespace
}  // namespace tessera::test
