#pragma once
#include <functional>
#include <string>
#include <vector>

namespace tessera::demo {

/// What the profiler saw of some runs on the GPU.
struct KernelShare {
  double generated_microseconds = 0;  ///< in kernels of ours
  double all_microseconds = 0;        ///< in all kernels and copies
  int calls = 0;                      ///< of torch.ops.tessera
  int generated_kernels = 0;          ///< launches of kernels of ours: one per call that ran one

  double of_time() const { return all_microseconds > 0 ? generated_microseconds / all_microseconds : 0; }
  double of_calls() const { return calls > 0 ? static_cast<double>(generated_kernels) / calls : 0; }
};

/// Runs a few times under torch's profiler; without a GPU it sees calls alone.
KernelShare profile(const std::function<void()>& run);

}  // namespace tessera::demo
