#include "registration/user/kernels.h"

#include <ATen/Context.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "registration/arguments/check.h"
#include "registration/calls/views.h"
#include "registration/dispatch/interpreted.h"
#include "registration/dispatch/readiness.h"
#include "registration/dispatch/torch_error.h"
#include "tile_core/base/error.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera {
namespace {

using Definition = UserOperator::Definition;

DType dtype_of_argument(const Definition& definition, const std::string& argument, const at::Tensor& tensor) {
  check_defined(definition.name(), argument, tensor);
  if (tensor.scalar_type() == at::kLong) return i64;
  if (tensor.scalar_type() == at::kInt) return i32;
  const std::optional<DType> dtype = dtype_of(tensor.scalar_type());
  TORCH_CHECK(dtype.has_value(), definition.name(), "(): expected ", argument,
              " of dtype Half, BFloat16, Float, Int, Long or Bool, but got ", tensor.scalar_type());
  return *dtype;
}

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case f16:
      return at::kHalf;
    case bf16:
      return at::kBFloat16;
    case f32:
      return at::kFloat;
    case i32:
      return at::kInt;
    case i64:
      return at::kLong;
    case boolean:
      return at::kBool;
  }
  return at::kFloat;
}

/// A number of a call as the program declares it; a float never meets an i64, as the definition checks.
ScalarValue scalar_of(const c10::IValue& value, DType declared) {
  if (value.isDouble()) return ScalarValue::f32(static_cast<float>(value.toDouble()));
  const std::int64_t number = value.isBool() ? std::int64_t{value.toBool()} : value.toInt();
  return declared == f32 ? ScalarValue::f32(static_cast<float>(number)) : ScalarValue::i64(number);
}

/// A call's arguments, as the program wants them.
struct Arguments {
  Arguments(const Definition& definition, const std::vector<c10::IValue>& values) : definition(definition) {
    const auto& schema = definition.schema().arguments();
    std::vector<c10::IValue> numbers;
    for (std::size_t i = 0; i < schema.size(); ++i) {
      if (values[i].isTensor()) {
        tensors.push_back(values[i].toTensor());
        names.push_back(schema[i].name());
        dtypes.push_back(dtype_of_argument(definition, names.back(), tensors.back()));
        TORCH_CHECK(tensors.back().device() == tensors.front().device(), definition.name(), "(): expected ",
                    names.back(), " on ", names.front(), "'s device ", tensors.front().device(), ", but got ",
                    tensors.back().device());
      } else {
        numbers.push_back(values[i]);
      }
    }
    program = &definition.program(dtypes);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      scalars.push_back(scalar_of(numbers[i], program->scalars[i].dtype));
  }

  const Definition& definition;
  std::vector<at::Tensor> tensors;
  std::vector<std::string> names;
  std::vector<DType> dtypes;
  std::vector<ScalarValue> scalars;
  const Program* program = nullptr;
};

/// Sizes of the program's dims, bound by the inputs in turn.
std::vector<std::optional<c10::SymInt>> bind_dims(const Arguments& a) {
  std::vector<std::optional<c10::SymInt>> sizes(a.program->dims.size());
  auto tensor = a.tensors.begin();
  auto name = a.names.begin();
  for (const TensorDecl& decl : a.program->tensors) {
    if (decl.output) continue;
    const at::ScalarType dtype = scalar_type_of(decl.dtype);
    TORCH_CHECK(tensor->scalar_type() == dtype, a.definition.name(), "(): expected ", *name, " of dtype ",
                dtype, ", as its program has it, but got ", tensor->scalar_type());
    TORCH_CHECK(tensor->dim() == static_cast<int64_t>(decl.dims.size()), a.definition.name(), "(): expected ",
                *name, " of ", decl.dims.size(), " dims, but got ", tensor->sym_sizes());
    for (std::size_t i = 0; i < decl.dims.size(); ++i) {
      std::optional<c10::SymInt>& bound = sizes[index_of(decl.dims[i])];
      const c10::SymInt size = tensor->sym_size(static_cast<int64_t>(i));
      if (!bound.has_value()) bound = size;
      TORCH_CHECK(*bound == size, a.definition.name(), "(): expected ", *name, "'s dim ", i, " to be ",
                  a.program->dim(decl.dims[i]).name, " = ", *bound, ", but got ", tensor->sym_sizes());
    }
    ++tensor, ++name;
  }
  return sizes;
}

std::vector<at::Tensor> make_outputs(const Arguments& a) {
  const auto dims = bind_dims(a);
  std::vector<at::Tensor> outputs;
  for (const TensorDecl& decl : a.program->tensors) {
    if (!decl.output) continue;
    c10::SymDimVector sizes;
    for (const DimId dim : decl.dims) {
      TORCH_CHECK(dims[index_of(dim)].has_value(), a.definition.name(), "(): expected output '", decl.name,
                  "' to have dims of inputs only, but got dim '", a.program->dim(dim).name, "'");
      sizes.push_back(*dims[index_of(dim)]);
    }
    outputs.push_back(at::empty_symint(sizes, a.tensors.front().options().dtype(scalar_type_of(decl.dtype))));
  }
  return outputs;
}

std::vector<TensorView> views_of(const Arguments& a, const std::vector<at::Tensor>& outputs) {
  std::vector<TensorView> views;
  auto input = a.tensors.begin();
  auto output = outputs.begin();
  for (const TensorDecl& decl : a.program->tensors)
    views.push_back(view_of(decl.output ? *output++ : *input++, decl.dtype));
  return views;
}

void run(const Arguments& a, const std::vector<TensorView>& views) {
  const c10::Device device = a.tensors.front().device();
  if (!device.is_cuda())
    return interpret(*a.program, views, dispatch::interpreter_numbers(a.definition.name(), a.scalars));
  Kernel& kernel = a.definition.kernel(*a.program, views, device.index());
  if (!kernel.text().zeroed.empty()) at::globalContext().alertNotDeterministic(a.definition.name());
  CUstream_st* stream = c10::cuda::getCurrentCUDAStream(device.index()).stream();
  if (kernel.state() != Kernel::State::ready)
    dispatch::make_ready(kernel, a.definition.name(), device.index(), stream,
                         Policy::tile);  // there is no other way to run it
  launch(kernel, views, a.scalars, device.index(), stream);
}

/// Takes a call's arguments off the stack and puts the outputs there.
class BoxedKernel : public c10::OperatorKernel {
 public:
  BoxedKernel(std::shared_ptr<const Definition> definition, bool computes)
      : definition_(std::move(definition)), computes_(computes) {}

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::vector<c10::IValue> values = torch::jit::pop(*stack, definition_->schema().arguments().size());
    std::vector<at::Tensor> outputs = with_torch_errors(definition_->name(), [&] {
      const Arguments arguments(*definition_, values);
      const c10::DeviceGuard guard(arguments.tensors.front().device());
      std::vector<at::Tensor> made = make_outputs(arguments);
      if (computes_) run(arguments, views_of(arguments, made));
      return made;
    });
    for (at::Tensor& output : outputs) torch::jit::push(*stack, std::move(output));
  }

 private:
  std::shared_ptr<const Definition> definition_;
  bool computes_;
};

torch::CppFunction boxed(std::shared_ptr<const Definition> definition, bool computes) {
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<BoxedKernel>(std::move(definition), computes));
}

}  // namespace

torch::CppFunction value_kernel(std::shared_ptr<const Definition> definition) {
  return boxed(std::move(definition), true);
}
torch::CppFunction meta_kernel(std::shared_ptr<const Definition> definition) {
  return boxed(std::move(definition), false);
}

}  // namespace tessera
