#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/gelu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include "registration/gradients/gradients.h"
#include "registration/private_ops.h"
#include "tessera/ops.h"

namespace tessera::gradients {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor rows(const Tensor& t) {
  return t.dim() == 1 ? t.unsqueeze(0) : t.flatten(0, -2);
}

/// Gradients of input, weight and bias from that of the product: the ones asked for.
variable_list linear_backward(const AutogradContext& ctx, const Tensor& grad, const Tensor& input,
                              const Tensor& weight, bool has_bias) {
  variable_list gradients(4);
  if (ctx.needs_input_grad(0)) gradients[0] = grad.matmul(weight);
  if (ctx.needs_input_grad(1)) gradients[1] = rows(grad).t().matmul(rows(input));
  if (has_bias && ctx.needs_input_grad(2)) gradients[2] = rows(grad).sum(0);  // ATen sums half types in fp32
  return gradients;
}

struct Linear : torch::autograd::Function<Linear> {
  static Tensor forward(AutogradContext* ctx, const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, bool has_bias) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->set_materialize_grads(false);
    ctx->saved_data["bias"] = has_bias;
    ctx->save_for_backward(
        {weight.requires_grad() ? input : Tensor(), input.requires_grad() ? weight : Tensor()});
    return tessera::linear(input, weight, bias);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    const variable_list saved = ctx->get_saved_variables();
    return linear_backward(*ctx, grads[0], saved[0], saved[1], ctx->saved_data["bias"].toBool());
  }
};

/// The product is an output too, which nobody sees: second derivatives go through it, so that nothing is kept
/// but it and what the gradients asked for need.
struct LinearGelu : torch::autograd::Function<LinearGelu> {
  static variable_list forward(AutogradContext* ctx, const Tensor& input, const Tensor& weight,
                               const std::optional<Tensor>& bias, bool tanh) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->set_materialize_grads(false);
    auto [output, product] = linear_gelu_with_preactivation(input, weight, bias, tanh ? "tanh" : "none");
    ctx->saved_data["tanh"] = tanh;
    ctx->saved_data["bias"] = bias.has_value();
    ctx->save_for_backward(
        {weight.requires_grad() ? input : Tensor(), input.requires_grad() ? weight : Tensor(), product});
    return {output, product};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    Tensor grad = grads[1];
    if (grads[0].defined()) {
      const Tensor through =
          at::gelu_backward(grads[0], saved[2], ctx->saved_data["tanh"].toBool() ? "tanh" : "none");
      grad = grad.defined() ? grad + through : through;
    }
    if (!grad.defined()) return variable_list(4);
    return linear_backward(*ctx, grad, saved[0], saved[1], ctx->saved_data["bias"].toBool());
  }
};

}  // namespace

Tensor linear(const LinearArguments& a) {
  if (a.activation == Activation::none) return Linear::apply(a.input, a.weight, a.bias, a.has_bias());
  return LinearGelu::apply(a.input, a.weight, a.bias, a.activation == Activation::gelu_tanh)[0];
}

}  // namespace tessera::gradients
