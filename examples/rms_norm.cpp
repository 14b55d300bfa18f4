#include <ATen/ATen.h>
#include <iostream>

#include "tessera/register_operator.h"

using namespace tessera;
using namespace tessera::dsl;

/// out[m,n] = x[m,n] / sqrt(mean over n of x[m,n]^2 + eps) * weight[n]; Zhang and Sennrich, arXiv 1910.07467
Program rms_norm(const std::vector<DType>& dtypes) {
  Builder p("rms_norm");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", dtypes[0], {M, N}), weight = p.in("weight", dtypes.at(1), {N});
  Out out = p.out("out", dtypes[0], {M, N});
  Tile eps = p.scalar("eps", f32);

  Axis m = p.grid(M, 2), n = p.all(N, 2048);
  Tile value = cast(f32, x(m, n));
  Tile mean = reduce_sum(value * value, n) / cast(f32, N);
  out(m, n) = cast(dtypes[0], value * rsqrt(mean + eps) * weight(n));
  return p.finish();
}

int main() {
  UserOperator op =
      register_operator("mine::rms_norm(Tensor x, Tensor weight, float eps) -> Tensor", rms_norm);
  at::Device device = at::hasCUDA() ? at::kCUDA : at::kCPU;  // a generated kernel, or the interpreter
  at::Tensor x = at::randn({64, 1000}, at::device(device)), weight = at::randn({1000}, at::device(device));
  at::Tensor ours = op(x, weight, 1e-6);
  at::Tensor native = x * at::rsqrt(x.square().mean(-1, true) + 1e-6) * weight;
  double difference = (ours - native).abs().max().item<double>();
  std::cout << "mine::rms_norm on " << device << ": largest difference from ATen " << difference << '\n';
  return difference < 1e-4 ? 0 : 1;
}
