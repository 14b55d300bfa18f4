#include "registration/dispatch/dispatch.h"

#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "registration/dispatch/decisions.h"
#include "registration/dispatch/interpreted.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/readiness.h"
#include "registration/dispatch/torch_error.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"

namespace tessera::dispatch {
namespace {

Decisions& decisions() {
  static auto* the = new Decisions;
  return *the;
}

/// ATen is to run the call for this reason; under policy tile it may not.
Runner unsupported(const Call& call, Policy policy, const std::string& why) {
  if (policy != Policy::tile) return Runner();
  throw UserError::format("{}(): the policy is tile, but {}. Policy auto runs ATen here", call.name(), why);
}

/// nullopt: Tessera does not compile for the device.
std::optional<autotune::Device> device_for(const Call& call, int index, Policy policy) {
  try {
    return device_of(index);
  } catch (const UserError& error) {
    unsupported(call, policy, error.what());
    log::warn_once(error.what(), fmt::format("ATen runs on device {}: {}", index, error.what()));
    return {};
  }
}

Decision decide(const Call& call, int index, Policy policy) {
  const std::optional<autotune::Device> device = device_for(call, index, policy);
  if (!device.has_value()) return {};
  const ops::Problem problem = call.problem();
  const autotune::Plan plan = plan_of(call.op(), problem, *device, policy);
  const autotune::Key key = key_of(call.op(), problem, *device);
  if (!plan.unsupported.empty()) unsupported(call, policy, "no variant can run it: " + plan.unsupported);
  note_used(key, plan);
  if (log::enabled(log::Channel::dispatch)) log::info(log::Channel::dispatch, autotune::describe(key, plan));
  return {plan.tile ? lowered(call.op(), problem.facts, *plan.tile, device->target).kernel : nullptr, false};
}

Runner choose_kernel(const Call& call, int device, Policy policy) {
  const CallKey key(call, policy, device);
  std::optional<Decision> decision = decisions().find(key);
  if (!decision.has_value()) {
    decision = decide(call, device, policy);
    decisions().insert(key, *decision);
  }
  if (decision->kernel == nullptr) return Runner();
  if (!decision->loaded) {
    if (!make_ready(*decision->kernel, call.name(), device, policy)) return Runner();
    decisions().insert(key, {decision->kernel, true});
  }
  return Runner(Runner::Kind::kernel, decision->kernel);
}

template <typename Arguments>
bool first_tensor_runs_native(const Arguments& a, const at::Tensor& first) {
  const c10::Device device = first.device();
  if (always_native(device)) return true;
  const c10::DeviceGuard guard(device);
  return choose(call_of(a), device).native();
}

}  // namespace

bool always_native(const c10::Device& device) {
  const Policy now = with_torch_errors(policy);
  return now == Policy::native || (now == Policy::automatic && !device.is_cuda());
}

Runner choose(const Call& call, const c10::Device& device) {
  return with_torch_errors([&] {
    const Policy now = policy();
    if (now == Policy::native) return Runner();
    if (!call.unsupported().empty())
      return unsupported(call, now, "no tile kernel supports " + call.unsupported());
    if (device.is_cuda()) return choose_kernel(call, device.index(), now);
    return now == Policy::tile ? Runner(Runner::Kind::interpreter) : Runner();
  });
}

void Runner::run(const Call& call, const c10::Device& device) const {
  with_torch_errors([&] {
    if (kind_ == Kind::interpreter) {
      run_in_interpreter(call);
    } else {
      launch(*kernel_, call.tensors(), call.scalars(), device.index(),
             c10::cuda::getCurrentCUDAStream(device.index()).stream());
    }
  });
}

bool runs_native(const AddArguments& a) {
  return first_tensor_runs_native(a, a.self);
}
bool runs_native(const LinearArguments& a) {
  return first_tensor_runs_native(a, a.input);
}
bool runs_native(const SoftmaxArguments& a) {
  return first_tensor_runs_native(a, a.self);
}
bool runs_native(const AttentionArguments& a) {
  return first_tensor_runs_native(a, a.query);
}

void forget_decisions() {
  decisions().clear();
}

}  // namespace tessera::dispatch
