#include "tessera/register_operator.h"
#include "tests/gpu/gpu.h"

/// Programs of users whose dots go to warpgroups where they can, and another way where they cannot.
namespace tessera::test {
namespace {

using namespace dsl;

/// out = (a b^T) * sigmoid(a c^T), two dots of one operand.
Program gated(const std::vector<DType>& dtypes) {
  Builder p("gated");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", dtypes.at(0), {M, K}), b = p.in("b", dtypes.at(1), {N, K}),
     c = p.in("c", dtypes.at(2), {N, K});
  Out out = p.out("out", dtypes.at(0), {M, N});
  Axis m = p.grid(M, 128), n = p.grid(N, 64);
  Var value = p.zeros(f32, {m, n}), gate = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) {
    value += dot(a(m, k), b(n, k), k);
    gate += dot(a(m, k), c(n, k), k);
  }
  out(m, n) = cast(dtypes[0], value / (1 + exp(-gate)));
  return p.finish();
}

/// out = a b^T less the largest of every column's tile: rows are reduced.
Program centred(const std::vector<DType>& dtypes) {
  Builder p("centred");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", dtypes.at(0), {M, K}), b = p.in("b", dtypes.at(1), {N, K});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.all(M, 64), n = p.grid(N, 64);
  Var sum = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, 64)) sum += dot(a(m, k), b(n, k), k);
  out(m, n) = sum - reduce_max(sum, m);
  return p.finish();
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

TEST(UserOperators, DotsOfProgramsAreRight) {
  TESSERA_NEEDS_GPU();
  static const UserOperator kGated =
      register_operator("gpu_test::gated(Tensor a, Tensor b, Tensor c) -> Tensor", gated);
  static const UserOperator kCentred =
      register_operator("gpu_test::centred(Tensor a, Tensor b) -> Tensor", centred);
  for (const std::int64_t rows : {1, 60, 64}) {
    for (const std::int64_t depth : {8, 200, 1001}) {
      const at::Tensor a = normal({rows, depth}, at::kHalf, 1), b = normal({200, depth}, at::kHalf, 2) * 0.1,
                       c = normal({200, depth}, at::kHalf, 3) * 0.1;
      const at::Tensor x = a.to(at::kDouble).matmul(b.t().to(at::kDouble)),
                       gate = a.to(at::kDouble).matmul(c.t().to(at::kDouble)).sigmoid();
      EXPECT_LT(largest_difference(kGated(a, b, c), x * gate), 2e-2) << rows << " " << depth;
      EXPECT_LT(largest_difference(kCentred(a, b), x - x.amax(0, true)), 1e-3) << rows << " " << depth;
    }
  }
}

}  // namespace
}  // namespace tessera::test
