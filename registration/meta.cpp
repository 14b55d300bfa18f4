#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>

#include "registration/kernels.h"

// Sizes, strides and dtypes without values, exactly those of the other keys: fake tensors, torch.compile and
// export read them.
namespace tessera {
namespace {

using at::Tensor;

struct Meta {
  static constexpr bool kChecks = true;
  static constexpr bool kHasPlans = false;

  static Tensor add(const AddArguments& a) { return at::add(a.self, a.other); }

  static Tensor linear(const LinearArguments& a) {
    return at::empty_symint(output_sizes(a), a.input.options());
  }

  static std::tuple<Tensor, Tensor> linear_gelu_with_preactivation(const LinearArguments& a) {
    return {linear(a), linear(a)};
  }

  static Tensor softmax(const SoftmaxArguments& a) {
    return at::empty_symint(a.self.sym_sizes(), a.self.options().dtype(a.output_dtype()));
  }

  static Tensor attention(const AttentionArguments& a) {
    return at::empty_strided_symint(output_sizes(a), output_strides(a), a.query.options());
  }

  static std::tuple<Tensor, Tensor> flash_attention(const AttentionArguments& a) {
    return {attention(a),
            at::empty_symint(a.query.sym_sizes().slice(0, 3), a.query.options().dtype(at::kFloat))};
  }

  static std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(const AttentionArguments& a,
                                                                     const AttentionOutputs&) {
    const auto dense = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
    return {dense(a.query), dense(a.key), dense(a.value)};
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(tessera, Meta, m) {
  Kernels<Meta>::register_all(m);
}

}  // namespace tessera
