#include "perf/host_time.h"

#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <chrono>

#include "perf/inputs.h"
#include "perf/matmul_precision.h"
#include "perf/natives.h"

namespace tessera::perf {
namespace {

// Fewer than what a stream holds before a launch waits for the GPU.
constexpr int kCalls = 200;

template <typename Run>
double microseconds(const Run& run) {
  c10::cuda::device_synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) run();
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return time.count() / kCalls;
}

}  // namespace

HostTime measure_host_time(const CallSpec& spec, bool grad, int rounds) {
  const MatmulPrecision precision(spec);
  std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  for (at::Tensor& t : inputs) t.set_requires_grad(grad && t.is_floating_point());
  const at::AutoGradMode mode(grad);
  std::vector<std::string> left_out;
  const auto ours = tessera_call(spec, inputs);
  const auto native = natives(spec, inputs, left_out).front().run;
  microseconds(ours);
  microseconds(native);
  std::vector<double> our_times, native_times;
  for (int round = 0; round < rounds; ++round) {
    our_times.push_back(microseconds(ours));
    native_times.push_back(microseconds(native));
  }
  return {summarize(our_times), summarize(native_times)};
}

}  // namespace tessera::perf
