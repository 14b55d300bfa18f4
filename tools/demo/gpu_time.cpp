#include "tools/demo/gpu_time.h"

#include <algorithm>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace tessera::demo {
namespace {

/// An operator calls itself on its way from key to key: the ranges that lie in no other one.
int outermost(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  int count = 0;
  std::uint64_t end = 0;
  for (const auto& range : ranges) {
    if (range.first < end) continue;
    end = range.second;
    ++count;
  }
  return count;
}

}  // namespace

KernelShare profile(const std::function<void()>& run) {
  using torch::profiler::impl::ActivityType;
  namespace profiler = torch::autograd::profiler;
  constexpr int kRuns = 3;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const bool gpu = c10::cuda::device_count() > 0;
  const auto synchronize = [&] {
    if (gpu) c10::cuda::device_synchronize();
  };
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (gpu) activities.insert(ActivityType::CUDA);
  run();  // compiles and loads
  synchronize();
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  for (int i = 0; i < kRuns; ++i) run();
  synchronize();
  const auto seen = profiler::disableProfiler();
  KernelShare share;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;  // begin and end on the host
  for (const profiler::KinetoEvent& event : seen->events()) {
    const std::string name = event.name();
    if (event.deviceType() == c10::DeviceType::CUDA) {
      const double microseconds = static_cast<double>(event.durationNs()) / 1e3;
      const bool generated = name.starts_with("tessera_");
      share.all_microseconds += microseconds;
      share.generated_microseconds += generated ? microseconds : 0;
      share.generated_kernels += generated ? 1 : 0;
    } else if (name.starts_with("tessera::")) {
      calls.emplace_back(event.startNs(), event.endNs());
    }
  }
  share.calls = outermost(std::move(calls));
  return share;
}

}  // namespace tessera::demo
