#include "tools/demo/recorded_calls.h"

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <fmt/format.h>

#include "registration/calls/calls.h"
#include "tile_core/base/error.h"

namespace tessera::demo {
namespace {

using Values = c10::ArrayRef<const c10::IValue>;

constexpr std::string_view kNamespace = "tessera::";

std::optional<at::Tensor> optional_tensor(const c10::IValue& value) {
  return value.toOptional<at::Tensor>();
}

/// From the arguments in the schema's order; nullopt: an operator that the models do not call.
std::optional<Call> call_from(std::string_view op, Values v) {
  if (op == "add") return call_of(AddArguments{v[0].toTensor(), v[1].toTensor()});
  if (op == "linear" || op == "linear_gelu") {
    const std::optional<at::Tensor> bias = optional_tensor(v[2]);
    const Activation activation = op == "linear" ? Activation::none : activation_from(v[3].toStringView());
    const OperatorName name =
        activation == Activation::none ? OperatorName("linear") : OperatorName("linear_gelu");
    return call_of(LinearArguments{name, v[0].toTensor(), v[1].toTensor(), bias, activation});
  }
  if (op != "scaled_dot_product_attention") return {};
  const std::optional<at::Tensor> mask = optional_tensor(v[3]);
  return call_of(AttentionArguments{"scaled_dot_product_attention", v[0].toTensor(), v[1].toTensor(),
                                    v[2].toTensor(), mask, v[4].toDouble(), v[5].toBool(), 0,
                                    v[6].toOptional<double>(), v[7].toBool()});
}

/// What the callbacks of this thread know. An operator calls itself on its way from key to key: only the
/// outermost one counts.
struct Recording {
  std::vector<RecordedCall> calls;
  int depth = 0;
};
thread_local Recording* recording = nullptr;

bool is_ours(const at::RecordFunction& function) {
  return recording != nullptr && std::string_view(function.name()).starts_with(kNamespace);
}

void add(const Call& call) {
  for (RecordedCall& known : recording->calls) {
    if (to_text(known.call) != to_text(call)) continue;
    ++known.count;
    return;
  }
  recording->calls.push_back({call});
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  if (!is_ours(function) || recording->depth++ > 0) return nullptr;
  const std::string_view op = std::string_view(function.name()).substr(kNamespace.size());
  if (const std::optional<Call> call = call_from(op, function.inputs())) add(*call);
  return nullptr;
}

void end(const at::RecordFunction& function, at::ObserverContext* /*context*/) {
  if (is_ours(function)) --recording->depth;
}

/// Hears this thread's operators while it lives.
class Listener {
 public:
  explicit Listener(Recording& made)
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(begin, end).needsInputs(true).scopes({at::RecordScope::FUNCTION}))) {
    recording = &made;
  }
  ~Listener() {
    recording = nullptr;
    at::removeCallback(handle_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

std::vector<RecordedCall> record_calls(const std::function<void()>& run) {
  Recording made;
  const Listener listener(made);
  run();
  return std::move(made.calls);
}

std::string to_text(const Call& call) {
  const ops::Problem problem = call.problem();
  const bool attention = call.name() == "scaled_dot_product_attention";  // too long for a table
  std::string text(attention ? "attention" : call.name());
  for (const auto& [name, size] : problem.dims) text += fmt::format(" {}={}", name, size);
  return text + fmt::format(" {}", name_of(problem.facts.tensors.front().dtype));
}

}  // namespace tessera::demo
