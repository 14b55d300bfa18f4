#include "perf/trial.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <limits>

#include "perf/inputs.h"
#include "perf/problem.h"
#include "registration/dispatch/lowering.h"
#include "tile_core/runtime/launch.h"

namespace tessera::perf {
namespace {

std::string compile(Kernel& kernel) {
  if (kernel.request(JitMode::block) != Kernel::State::ready) return kernel.failure();
  const std::vector<std::string> complaints = kernel.cubin().complaints();
  return complaints.empty() ? "" : complaints.front();
}

void allocate_outputs(Trial& trial) {
  for (std::size_t i = trial.call.first_output(); i < trial.call.tensors().size(); ++i) {
    const TensorView& view = trial.call.tensors()[i];
    const auto rank = static_cast<std::size_t>(view.rank);
    const auto options = at::TensorOptions().dtype(scalar_type(view.dtype)).device(at::kCUDA);
    trial.outputs.push_back(
        at::empty_strided({view.sizes.data(), rank}, {view.strides.data(), rank}, options));
    trial.outputs.back().fill_(std::numeric_limits<double>::quiet_NaN());  // what is not written shows
    trial.call.bind(i, trial.outputs.back().data_ptr());
  }
}

}  // namespace

Call bound_call(const CallSpec& spec, const std::vector<at::Tensor>& inputs) {
  Call call = call_of(spec);
  for (std::size_t i = 0; i < inputs.size(); ++i) call.bind(i, inputs[i].data_ptr());
  return call;
}

void Trial::operator()() const {
  launch(*kernel, call.tensors(), call.scalars(), c10::cuda::current_device(),
         c10::cuda::getCurrentCUDAStream().stream());
}

Trial try_kernel(const Call& call, Kernel& kernel, const std::vector<Expected>& expected) {
  Trial trial{.call = call, .kernel = &kernel, .failure = compile(kernel)};
  if (!trial.failure.empty()) return trial;
  allocate_outputs(trial);
  trial();
  for (std::size_t i = 0; i < trial.outputs.size(); ++i) {
    Expected own = expected.at(i);
    own.reference = own.reference.reshape(trial.outputs[i].sizes());  // the call's may be fewer dims
    const Accuracy accuracy = accuracy_of(trial.outputs[i], own);
    if (i == 0) trial.accuracy = accuracy;
    if (trial.failure.empty() && !accuracy.holds())
      trial.failure = fmt::format("wrong result: {}{}", i == 0 ? "" : "second output: ", accuracy.text());
  }
  return trial;
}

Trial try_variant(const Call& call, const autotune::Variant& variant, const Target& target,
                  const std::vector<Expected>& expected) {
  const dispatch::Lowered& lowered = dispatch::lowered(call.op(), call.problem().facts, variant, target);
  if (lowered.kernel == nullptr) return {.call = call, .failure = lowered.problem};
  return try_kernel(call, *lowered.kernel, expected);
}

}  // namespace tessera::perf
