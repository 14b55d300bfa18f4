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
    const char* const name = op == "linear" ? "linear" : "linear_gelu";  // a call keeps no copy
    return call_of(LinearArguments{name, v[0].toTensor(), v[1].toTensor(), bias, activation});
  }
  if (op != "scaled_dot_product_attention") return {};
  const std::optional<at::Tensor> mask = optional_tensor(v[3]);
  return call_of(AttentionArguments{"scaled_dot_product_attention", v[0].toTensor(), v[1].toTensor(),
                                    v[2].toTensor(), mask, v[4].toDouble(), v[5].toBool(), 0,
                                    v[6].toOptional<double>(), v[7].toBool()});
}

thread_local std::vector<RecordedCall>* recording = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  std::string_view name = function.name();
  if (recording == nullptr || !name.starts_with(kNamespace) || function.inputs().empty()) return nullptr;
  name.remove_prefix(kNamespace.size());
  const std::optional<Call> call = call_from(name, function.inputs());
  if (!call.has_value()) return nullptr;
  for (RecordedCall& known : *recording) {
    if (known.call.name() != call->name() || to_text(known.call) != to_text(*call)) continue;
    ++known.count;
    return nullptr;
  }
  recording->push_back({*call});
  return nullptr;
}

}  // namespace

std::vector<RecordedCall> record_calls(const std::function<void()>& run) {
  std::vector<RecordedCall> calls;
  const at::CallbackHandle handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  recording = &calls;
  run();
  recording = nullptr;
  at::removeCallback(handle);
  return calls;
}

std::string to_text(const Call& call) {
  const ops::Problem problem = call.problem();
  std::string text(call.name());
  for (const auto& [name, size] : problem.dims) text += fmt::format(" {}={}", name, size);
  return text + fmt::format(" {}", name_of(problem.facts.tensors.front().dtype));
}

}  // namespace tessera::demo
