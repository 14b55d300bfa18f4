#include "tools/demo/gpu_time.h"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace tessera::demo {

KernelShare profile(const std::function<void()>& run) {
  using torch::profiler::impl::ActivityType;
  namespace profiler = torch::autograd::profiler;
  constexpr int kRuns = 3;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities = {ActivityType::CPU, ActivityType::CUDA};
  run();  // compiles and loads
  c10::cuda::device_synchronize();
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  for (int i = 0; i < kRuns; ++i) run();
  c10::cuda::device_synchronize();
  KernelShare share;
  for (const profiler::KinetoEvent& event : profiler::disableProfiler()->events()) {
    const std::string name = event.name();
    if (event.deviceType() == c10::DeviceType::CUDA) {
      const double microseconds = static_cast<double>(event.durationNs()) / 1e3;
      const bool generated = name.starts_with("tessera_");
      share.all_microseconds += microseconds;
      share.generated_microseconds += generated ? microseconds : 0;
      share.generated_kernels += generated ? 1 : 0;
    } else if (name.starts_with("tessera::")) {
      ++share.calls;
    }
  }
  return share;
}

}  // namespace tessera::demo
