#include "registration/dispatch/dispatch.h"

#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "registration/dispatch/decisions.h"
#include "registration/dispatch/interpreted.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/readiness.h"
#include "registration/dispatch/report.h"
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

/// No kernel can run the call, for this reason: an error under policy tile.
void require_no_tile(std::string_view op, Policy policy, std::string_view what, const std::string& why) {
  if (policy != Policy::tile) return;
  throw UserError::format("{}(): the policy is tile, but {}{}. Policy auto runs ATen here", op, what, why);
}

/// nullopt: Tessera does not compile for the device.
std::optional<autotune::Device> device_for(const Call& call, int index, Policy policy) {
  try {
    return device_of(index);
  } catch (const UserError& error) {
    require_no_tile(call.name(), policy, "", error.what());
    log::warn_once(error.what(), fmt::format("ATen runs on device {}: {}", index, error.what()));
    report_native(call.name(), "{}", error.what());
    return {};
  }
}

Decision decide(const Call& call, int index, Policy policy) {
  const std::optional<autotune::Device> device = device_for(call, index, policy);
  if (!device.has_value()) return {};
  const ops::Problem problem = call.problem();
  const autotune::Plan plan = plan_of(call.op(), problem, *device, policy);
  const autotune::Key key = key_of(call.op(), problem, *device);
  if (!plan.unsupported.empty())
    require_no_tile(call.name(), policy, "no variant can run it: ", plan.unsupported);
  note_used(key, plan);
  if (log::enabled(log::Topic::dispatch)) log::info(log::Topic::dispatch, autotune::describe(key, plan));
  return {plan.tile ? lowered(call.op(), problem.facts, *plan.tile, device->target).kernel : nullptr};
}

/// Whether the decision's kernel may run now; what was found out is remembered.
bool is_ready(const Call& call, const CallKey& key, const Decision& decision, int device, Policy policy,
              std::uint64_t epoch) {
  Kernel& kernel = *decision.kernel;
  const std::uint64_t now = moment_of(kernel);
  if (decision.refused_at == now) return false;
  const Readiness found =
      make_ready(kernel, call.name(), device, c10::cuda::getCurrentCUDAStream(device).stream(), policy);
  if (found == Readiness::ready) decisions().insert(key, {&kernel, true}, epoch);
  if (found == Readiness::refused) decisions().insert(key, {&kernel, false, now}, epoch);
  return found == Readiness::ready;
}

Runner choose_kernel(const Call& call, int device, Policy policy, const Memo* memo) {
  const CallKey key(call, policy, device);
  const std::uint64_t epoch = decisions().epoch();
  std::optional<Decision> decision = decisions().find(key);
  if (!decision.has_value()) {
    decision = decide(call, device, policy);
    decisions().insert(key, *decision, epoch);
  }
  if (decision->kernel == nullptr) {
    if (memo != nullptr) memo->remember_native();
    return Runner();
  }
  if (!decision->loaded && !is_ready(call, key, *decision, device, policy, epoch)) return Runner();
  return Runner(Runner::Kind::kernel, decision->kernel);
}

/// Of the call that `make` gives, on a tensor's device. Where there is nothing to compute nobody is asked, as
/// below the autograd key.
template <typename Make>
bool call_runs_native(std::string_view op, const at::Tensor& first, const Memo& memo, Make make) {
  const c10::Device device = first.device();
  if (always_native(op, device)) return true;
  const c10::DeviceGuard guard(device);
  const Call call = make();
  return !call.outputs_are_empty() && choose(call, device, &memo).native();
}

}  // namespace

bool always_native(std::string_view op, const c10::Device& device) {
  const Policy now = with_torch_errors(policy);
  if (now == Policy::tile || (now == Policy::automatic && device.is_cuda())) return false;
  report_native(
      op, "{}",
      now == Policy::native ? "the policy is native" : "the CPU runs ATen unless the policy is tile");
  return true;
}

void leave_to_aten(std::string_view op, const std::string& unsupported) {
  require_no_tile(op, policy(), "no tile kernel supports ", unsupported);
  report_native(op, "no tile kernel supports {}", unsupported);
}

Runner choose(const Call& call, const c10::Device& device, const Memo* memo) {
  return with_torch_errors(call.name(), [&] {
    const Policy now = policy();
    if (now == Policy::native) return Runner();
    if (!call.unsupported().empty()) {
      leave_to_aten(call.name(), call.unsupported());
      return Runner();
    }
    if (device.is_cuda()) return choose_kernel(call, device.index(), now, memo);
    return now == Policy::tile ? Runner(Runner::Kind::interpreter) : Runner();
  });
}

void Runner::run(const Call& call, const c10::Device& device) const {
  with_torch_errors(call.name(), [&] {
    if (kind_ == Kind::interpreter) {
      run_in_interpreter(call);
    } else {
      launch(*kernel_, call.tensors(), call.scalars(), device.index(),
             c10::cuda::getCurrentCUDAStream(device.index()).stream());
    }
  });
}

bool runs_native(const AddArguments& a, const Memo& memo) {
  return call_runs_native("add", a.self, memo, [&] { return call_of(a); });
}
bool runs_native(const LinearArguments& a, const Memo& memo) {
  return call_runs_native(a.op, a.input, memo, [&] { return training_call_of(a); });
}
bool runs_native(const SoftmaxArguments& a, const Memo& memo) {
  return call_runs_native("softmax", a.self, memo, [&] { return call_of(a); });
}
bool runs_native(const AttentionArguments& a, const Memo& memo) {
  return call_runs_native(a.op, a.query, memo, [&] { return call_of(a); });
}

void forget_decisions() {
  decisions().clear();
}

std::uint64_t epoch_of_decisions() {
  return decisions().epoch();
}

}  // namespace tessera::dispatch
