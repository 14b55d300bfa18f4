#include "perf/roof.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "perf/inputs.h"

namespace tessera::perf {
namespace {

constexpr std::int64_t kCopyElements = std::int64_t{1} << 28;  // of 4 bytes: 1 GiB per tensor
constexpr std::int64_t kProduct = 8192;

}  // namespace

int nearest_ratio(const Work& work) {
  constexpr double kMost = 3;
  const double ratio = work.write_bytes > 0 ? work.read_bytes / work.write_bytes : kMost;
  return static_cast<int>(std::lround(std::min(ratio, kMost)));
}

double Roof::bandwidth(const Work& work) {
  const int reads = nearest_ratio(work);
  const std::string name = fmt::format("copy {}:1, GB/s", reads);
  if (!measured_.contains(name)) {
    const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(at::kCUDA);
    at::Tensor out = at::empty({kCopyElements}, options);
    std::vector<at::Tensor> in;
    for (int i = 0; i < reads; ++i) in.push_back(at::randn({kCopyElements}, options));
    const Arm copies[] = {[&] { out.fill_(1); }, [&] { out.copy_(in[0]); },
                          [&] { at::add_out(out, in[0], in[1]); },
                          [&] { at::addcmul_out(out, in[0], in[1], in[2]); }};
    const double bytes = static_cast<double>(kCopyElements) * sizeof(float) * (reads + 1);
    measured_[name] = bytes / timer_.cold({copies[reads]}).front().median / 1e3;
  }
  return 1e9 * measured_[name];
}

double Roof::flops(DType dtype, bool tf32) {
  const std::string name = fmt::format("mm {}, TFLOP/s", tf32 ? "tf32" : name_of(dtype));
  if (!measured_.contains(name)) {
    const at::TensorOptions options = at::TensorOptions().dtype(scalar_type(dtype)).device(at::kCUDA);
    const at::Tensor a = at::randn({kProduct, kProduct}, options),
                     b = at::randn({kProduct, kProduct}, options);
    at::Tensor out = at::empty({kProduct, kProduct}, options);
    const Arm product = [&] { at::mm_out(out, a, b); };
    measured_[name] =
        2 * std::pow(static_cast<double>(kProduct), 3) / timer_.cold({product}).front().median / 1e6;
  }
  return 1e12 * measured_[name];
}

double Roof::microseconds(const Work& work, DType dtype, bool tf32) {
  const double memory = (work.read_bytes + work.write_bytes) / bandwidth(work);
  const double compute = work.flops > 0 ? work.flops / flops(dtype, tf32) : 0;
  return 1e6 * std::max(memory, compute);
}

}  // namespace tessera::perf
