#include "tessera/register_operator.h"

#include <algorithm>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

#include "registration/arguments/check.h"
#include "registration/registrar.h"
#include "registration/user/definition.h"
#include "registration/user/kernels.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

/// The registrations of one operator; kept for ever, as the definition is.
struct Registration {
  Registration(const std::string& schema, const std::string& ns,
               const std::shared_ptr<const UserOperator::Definition>& d)
      : definition(torch::Library::FRAGMENT, ns, std::nullopt, __FILE__, __LINE__),
        cpu(torch::Library::IMPL, ns, c10::DispatchKey::CPU, __FILE__, __LINE__),
        cuda(torch::Library::IMPL, ns, c10::DispatchKey::CUDA, __FILE__, __LINE__),
        meta(torch::Library::IMPL, ns, c10::DispatchKey::Meta, __FILE__, __LINE__),
        autograd(torch::Library::IMPL, ns, c10::DispatchKey::Autograd, __FILE__, __LINE__) {
    const std::string& name = d->name();
    definition.def(schema.c_str(), {at::Tag::pt2_compliant_tag});
    cpu.impl(name.c_str(), value_kernel(d));
    cuda.impl(name.c_str(), value_kernel(d));
    meta.impl(name.c_str(), meta_kernel(d));
    autograd.impl(name.c_str(), torch::autograd::autogradNotImplementedFallback());
  }

  torch::Library definition, cpu, cuda, meta, autograd;
};

/// A schema's float takes a whole number, as from Python.
void take_whole_numbers(const c10::FunctionSchema& schema, std::vector<c10::IValue>& arguments) {
  for (std::size_t i = 0; i < std::min(arguments.size(), schema.arguments().size()); ++i) {
    const bool is_float = schema.arguments()[i].type()->kind() == c10::TypeKind::FloatType;
    if (is_float && arguments[i].isInt()) arguments[i] = static_cast<double>(arguments[i].toInt());
  }
}

/// Of a call without any tensor the dispatcher would say that its key has no kernel.
void check_some_tensor(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& arguments) {
  for (std::size_t i = 0; i < std::min(arguments.size(), schema.arguments().size()); ++i) {
    if (arguments[i].isTensor())
      return check_defined(schema.name(), schema.arguments()[i].name(), arguments[i].toTensor());
  }
}

}  // namespace

UserOperator register_operator(const std::string& schema, ProgramOf program, const OperatorOptions& options) {
  const auto definition =
      std::make_shared<const UserOperator::Definition>(schema, std::move(program), options);
  const std::string& name = definition->name();
  if (c10::Dispatcher::singleton().findSchema({name, definition->schema().overload_name()}).has_value())
    throw UserError::format("register_operator: {} is registered already", name);
  new Registration(schema, name.substr(0, name.find("::")), definition);
  return UserOperator(definition);
}

std::vector<at::Tensor> UserOperator::call(std::vector<c10::IValue> arguments) const {
  const c10::FunctionSchema& schema = definition_->schema();
  const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow(schema.name().c_str(), schema.overload_name().c_str());
  take_whole_numbers(schema, arguments);
  check_some_tensor(schema, arguments);
  schema.checkAndNormalizeInputs(arguments);
  op.callBoxed(arguments);
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& value : arguments) outputs.push_back(value.toTensor());
  return outputs;
}

}  // namespace tessera
