#pragma once
#include <ATen/core/Tensor.h>
#include <functional>
#include <vector>

#include "tools/demo/recorded_calls.h"

/// What the demo prints of a model that runs on both sides.
namespace tessera::demo {

/// The same model with ATen's operators and with ours.
struct Sides {
  std::function<at::Tensor()> native;
  std::function<at::Tensor()> tessera;
};

/// On the GPU, under policy auto and under policy tile: which kernels run and why, time, speed-up and the
/// share of generated kernels. False where fewer than 90 % of the operators' calls ran generated kernels
/// under tile.
bool print_gpu(const Sides& sides, const std::vector<RecordedCall>& calls);

}  // namespace tessera::demo
