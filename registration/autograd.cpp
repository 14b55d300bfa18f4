#include <ATen/core/LegacyTypeDispatch.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

#include "registration/dispatch/dispatch.h"
#include "registration/dispatch/torch_error.h"
#include "registration/gradients/derivatives.h"
#include "registration/gradients/gradients.h"
#include "registration/kernels.h"
#include "registration/native/native.h"
#include "tessera/ops.h"
#include "tessera/policy.h"

// Derivatives. A call that nobody differentiates goes on at once. Where the plan is native, ATen's operator
// runs right here, so that the graph, its memory and its time are ATen's own.
namespace tessera {
namespace {

using at::Tensor;

/// The tensors of a call.
auto tensors_of(const AddArguments& a) {
  return std::tie(a.self, a.other);
}
auto tensors_of(const LinearArguments& a) {
  return std::tie(a.input, a.weight, a.bias);
}
auto tensors_of(const SoftmaxArguments& a) {
  return std::tie(a.self);
}
auto tensors_of(const AttentionArguments& a) {
  return std::tie(a.query, a.key, a.value, a.mask);
}

template <typename Arguments>
Derivatives derivatives_of_call(const Arguments& a) {
  return std::apply([](const auto&... tensors) { return derivatives_of(tensors...); }, tensors_of(a));
}

/// Whether ATen runs the call, which nobody differentiates, as this thread remembers, and nothing is to see
/// it between this key and the GPU's.
template <typename Arguments>
bool is_remembered_native(const Arguments& a) {
  const auto is_next = [](const auto&... tensors) { return dispatch::is_next_at_gpu(tensors...); };
  return std::apply(is_next, tensors_of(a)) && dispatch::Memo(a).says_native();
}

/// `below` runs the operator at the keys below this one, `aten` in ATen's operators, `ours` with our own
/// node.
template <typename Arguments, typename Below, typename Aten, typename Ours>
auto differentiate(Derivatives who, const Arguments& a, Below below, Aten aten, Ours ours) {
  if (who == Derivatives::none) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return is_remembered_native(a) ? aten() : below();
  }
  if (who == Derivatives::by_plan) {
    const dispatch::Memo memo = dispatch::training_memo_of(a);
    if (memo.says_native()) return aten();
    check(a);
    return dispatch::runs_native(a, memo) ? aten() : ours();
  }
  check(a);
  with_torch_errors(policy);  // a wrong one is an error of every call, also of one that no plan runs
  return who == Derivatives::tracer ? ours() : aten();
}

/// Which our nodes know nothing of.
bool is_forward_mode(const AttentionArguments& a) {
  return std::apply([](const auto&... tensors) { return (has_forward_gradient(tensors) || ...); },
                    tensors_of(a));
}

struct Autograd {
  static constexpr bool kChecks = false;
  static constexpr bool kHasPlans = true;

  static Tensor add(const AddArguments& a) {
    return differentiate(
        derivatives_of_call(a), a, [&] { return tessera::add(a.self, a.other); },
        [&] { return native::add(a); }, [&] { return gradients::add(a); });
  }

  static Tensor linear(const LinearArguments& a) {
    const auto below = [&] {
      return a.activation == Activation::none
                 ? tessera::linear(a.input, a.weight, a.bias)
                 : tessera::linear_gelu(a.input, a.weight, a.bias, approximate_of(a.activation));
    };
    return differentiate(
        derivatives_of_call(a), a, below, [&] { return native::linear(a); },
        [&] { return gradients::linear(a); });
  }

  static Tensor softmax(const SoftmaxArguments& a) {
    return differentiate(
        derivatives_of_call(a), a, [&] { return tessera::softmax(a.self, a.dim, a.dtype); },
        [&] { return native::softmax(a); }, [&] { return gradients::softmax(a); });
  }

  static Tensor attention(const AttentionArguments& a) {
    Derivatives who = derivatives_of_call(a);
    if (who == Derivatives::tracer && a.dropout_p > 0) {
      // Our backward cannot drop the same weights again.
      with_torch_errors(a.op,
                        [&] { dispatch::leave_to_aten(a.op, fmt::format("dropout_p = {}", a.dropout_p)); });
      who = Derivatives::aten;
    }
    const auto below = [&] {
      return tessera::scaled_dot_product_attention(a.query, a.key, a.value, a.mask, a.dropout_p, a.is_causal,
                                                   a.scale, a.enable_gqa);
    };
    const auto aten = [&] {
      if (transforms()) return native::attention_formula(a);
      const bool ours = who != Derivatives::none && native::composes_attention(a) && !is_forward_mode(a);
      return ours ? gradients::attention(a) : native::attention(a);
    };
    return differentiate(who, a, below, aten, [&] { return gradients::attention(a); });
  }

  static std::tuple<Tensor, Tensor> flash_attention(const AttentionArguments& a) {
    const auto below = [&] {
      return tessera::flash_attention(a.query, a.key, a.value, a.is_causal, a.diagonal, a.scale);
    };
    const Derivatives who = derivatives_of_call(a);
    const auto aten = [&] {
      if (transforms()) return native::flash_attention_formula(a);
      const bool ours =
          who != Derivatives::none && native::composes_flash_attention(a) && !is_forward_mode(a);
      return ours ? gradients::flash_attention(a) : native::flash_attention(a);
    };
    return differentiate(who, a, below, aten, [&] { return gradients::flash_attention(a); });
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(tessera, Autograd, m) {
  if (!may_register()) return;
  Kernels<Autograd>::register_public(m);
  m.impl("_linear_gelu_with_preactivation", torch::autograd::autogradNotImplementedFallback());
  m.impl("flash_attention_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace tessera
