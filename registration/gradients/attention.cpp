#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/ones.h>
#include <algorithm>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "registration/gradients/gradients.h"
#include "registration/native/native.h"
#include "registration/private_ops.h"
#include "tessera/ops.h"

namespace tessera::gradients {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr size_t kArguments = 7;  // of forward

/// Attention in ATen's differentiable products, which hold all scores: what second derivatives need.
Tensor by_products(const AttentionArguments& a) {
  std::optional<Tensor> mask = a.mask;
  if (a.is_causal) {
    constexpr int64_t kFar = int64_t{1} << 40;  // beyond any size, and no overflow in tril
    const Tensor all =
        at::ones_symint({a.query.sym_size(2), a.key.sym_size(2)}, a.query.options().dtype(at::kBool));
    mask = all.tril(std::clamp(a.diagonal, -kFar, kFar));
  }
  if (mask.has_value()) mask = native::added_mask(*mask, a.query);
  return std::get<0>(at::_scaled_dot_product_attention_math(a.query, a.key, a.value, mask, 0.0, false, {},
                                                            a.scale, a.enable_gqa));
}

/// Both operators: with a mask tensor output alone, else output and logsumexp.
struct Attention : torch::autograd::Function<Attention> {
  static variable_list forward(AutogradContext* ctx, const Tensor& query, const Tensor& key,
                               const Tensor& value, const std::optional<Tensor>& mask, bool is_causal,
                               int64_t diagonal, std::optional<double> scale) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->set_materialize_grads(false);
    ctx->saved_data["is_causal"] = is_causal;
    ctx->saved_data["diagonal"] = diagonal;
    ctx->saved_data["scale"] = scale;
    if (mask.has_value()) {
      Tensor output =
          tessera::scaled_dot_product_attention(query, key, value, mask, 0.0, is_causal, scale, true);
      ctx->save_for_backward({query, key, value, *mask});
      return {output};
    }
    auto [output, logsumexp] = tessera::flash_attention(query, key, value, is_causal, diagonal, scale);
    ctx->mark_non_differentiable({logsumexp});
    ctx->save_for_backward({query, key, value, Tensor(), output, logsumexp});
    return {output, logsumexp};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(kArguments);
    const variable_list saved = ctx->get_saved_variables();
    const bool second = at::GradMode::is_enabled();
    return second || saved[3].defined() ? by_recomputation(*ctx, grads[0], saved, second)
                                        : from_outputs(*ctx, grads[0], saved);
  }

 private:
  static std::optional<double> scale_of(AutogradContext& ctx) {
    return ctx.saved_data["scale"].toOptional<double>();
  }

  static variable_list from_outputs(AutogradContext& ctx, const Tensor& grad, const variable_list& saved) {
    auto [query, key, value] = flash_attention_backward(grad, saved[0], saved[1], saved[2], saved[4],
                                                        saved[5], ctx.saved_data["is_causal"].toBool(),
                                                        ctx.saved_data["diagonal"].toInt(), scale_of(ctx));
    variable_list gradients = {query, key, value};
    for (size_t i = 0; i < 3; ++i) {
      if (!ctx.needs_input_grad(i)) gradients[i] = Tensor();
    }
    gradients.resize(kArguments);
    return gradients;
  }

  /// Runs ATen's attention again, with a graph. For first derivatives the inputs are cut off from what made
  /// them.
  static variable_list by_recomputation(AutogradContext& ctx, const Tensor& grad, const variable_list& saved,
                                        bool second) {
    const at::AutoGradMode record(true);
    const size_t count = saved[3].defined() ? 4 : 3;
    variable_list inputs(count), wanted;
    for (size_t i = 0; i < count; ++i) {
      inputs[i] = second ? saved[i] : saved[i].detach().requires_grad_(ctx.needs_input_grad(i));
      if (ctx.needs_input_grad(i)) wanted.push_back(inputs[i]);
    }
    const std::optional<Tensor> mask = count == 4 ? std::optional(inputs[3]) : std::nullopt;
    const AttentionArguments a{"attention",
                               inputs[0],
                               inputs[1],
                               inputs[2],
                               mask,
                               0.0,
                               ctx.saved_data["is_causal"].toBool(),
                               ctx.saved_data["diagonal"].toInt(),
                               scale_of(ctx),
                               saved[0].sym_size(1) != saved[1].sym_size(1)};
    const Tensor output = second ? by_products(a) : native::attention_formula(a);
    variable_list found =
        torch::autograd::grad({output}, wanted, {grad}, {}, /*create_graph=*/second, /*allow_unused=*/true);
    variable_list gradients(kArguments);
    auto next = found.begin();
    for (size_t i = 0; i < count; ++i) {
      if (ctx.needs_input_grad(i)) gradients[i] = *next++;
    }
    return gradients;
  }
};

variable_list apply(const AttentionArguments& a) {
  return Attention::apply(a.query, a.key, a.value, a.has_mask() ? a.mask : std::nullopt, a.is_causal,
                          a.diagonal, a.scale);
}

}  // namespace

Tensor attention(const AttentionArguments& a) {
  return apply(a)[0];
}

std::tuple<Tensor, Tensor> flash_attention(const AttentionArguments& a) {
  variable_list outputs = apply(a);
  return {outputs[0], outputs[1]};
}

}  // namespace tessera::gradients
