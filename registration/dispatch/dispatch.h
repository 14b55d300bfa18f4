#pragma once
#include <c10/core/Device.h>
#include <optional>

#include "registration/calls/calls.h"
#include "registration/dispatch/memo.h"
#include "tile_core/runtime/kernel_store.h"

/// What runs a call: the plan's choice under the policy, as far as the kernel is ready.
namespace tessera::dispatch {

/// How a call runs: ATen, a kernel on the GPU, or the operator's program in the interpreter on the CPU.
class Runner {
 public:
  enum class Kind : std::uint8_t { native, kernel, interpreter };

  Runner() = default;
  explicit Runner(Kind kind, Kernel* kernel = nullptr) : kind_(kind), kernel_(kernel) {}

  bool native() const { return kind_ == Kind::native; }
  /// Runs the call, whose outputs are bound: on torch's current stream of the device, or right here.
  void run(const Call& call, const c10::Device& device) const;

 private:
  Kind kind_ = Kind::native;
  Kernel* kernel_ = nullptr;
};

/// The operator's calls on this device are ATen's whatever they are; cheap.
bool always_native(std::string_view op, const c10::Device& device);

/// No tile kernel supports this of the operator's call: ATen runs it, or under policy tile UserError is
/// thrown.
void leave_to_aten(std::string_view op, const std::string& unsupported);

/// Decides. The device is current. Throws c10::Error where the policy is tile and no kernel may run the call.
/// `memo` remembers a plan of ATen's.
Runner choose(const Call& call, const c10::Device& device, const Memo* memo = nullptr);

/// Whether ATen is to run the call, for the autograd key; `memo` is that of the call in training.
bool runs_native(const AddArguments& a, const Memo& memo);
bool runs_native(const LinearArguments& a, const Memo& memo);
bool runs_native(const SoftmaxArguments& a, const Memo& memo);
bool runs_native(const AttentionArguments& a, const Memo& memo);

/// Decisions are made again, after a change of what plans are chosen by.
void forget_decisions();

}  // namespace tessera::dispatch
