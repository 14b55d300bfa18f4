#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/real.h>
#include <torch/csrc/autograd/custom_function.h>

#include "registration/gradients/gradients.h"
#include "tessera/ops.h"

namespace tessera::gradients {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Add : torch::autograd::Function<Add> {
  static Tensor forward(AutogradContext* ctx, const Tensor& self, const Tensor& other) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->set_materialize_grads(false);
    ctx->saved_data["self"] = self.sym_sizes();
    ctx->saved_data["other"] = other.sym_sizes();
    ctx->saved_data["self_dtype"] = self.scalar_type();
    ctx->saved_data["other_dtype"] = other.scalar_type();
    return tessera::add(self, other);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(2);
    return {operand(*ctx, 0, "self", grads[0]), operand(*ctx, 1, "other", grads[0])};
  }

 private:
  static Tensor operand(AutogradContext& ctx, size_t index, const std::string& name, const Tensor& grad) {
    if (!ctx.needs_input_grad(index)) return {};
    const auto dtype = ctx.saved_data[name + "_dtype"].toScalarType();
    const Tensor real = grad.is_complex() && !c10::isComplexType(dtype) ? at::real(grad) : grad;
    return real.sum_to_size_symint(ctx.saved_data[name].toSymIntVector()).to(dtype);
  }
};

struct Softmax : torch::autograd::Function<Softmax> {
  static Tensor forward(AutogradContext* ctx, const Tensor& self, int64_t dim,
                        std::optional<at::ScalarType> dtype) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->set_materialize_grads(false);
    Tensor output = tessera::softmax(self, dim, dtype);
    ctx->saved_data["dim"] = dim;
    ctx->saved_data["dtype"] = self.scalar_type();
    ctx->save_for_backward({output});
    return output;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(3);
    const Tensor output = ctx->get_saved_variables()[0];
    const Tensor grad =
        at::_softmax_backward_data(grads[0], output, ctx->saved_data["dim"].toInt(), output.scalar_type());
    return {grad.to(ctx->saved_data["dtype"].toScalarType()), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor add(const AddArguments& a) {
  return Add::apply(a.self, a.other);
}

Tensor softmax(const SoftmaxArguments& a) {
  return Softmax::apply(a.self, a.dim, a.dtype);
}

}  // namespace tessera::gradients
