#pragma once
#include <torch/library.h>

#include "registration/arguments/add.h"
#include "registration/arguments/attention.h"
#include "registration/arguments/linear.h"
#include "registration/arguments/softmax.h"
#include "registration/dispatch/torch_error.h"
#include "registration/registrar.h"
#include "tessera/policy.h"

namespace tessera {

/// The kernels of one dispatch key: each has a schema's signature, packs the arguments, checks them and hands
/// them to the function of the same name in `Level`.
template <typename Level>
struct Kernels {
  using Tensor = at::Tensor;
  using MaybeTensor = std::optional<at::Tensor>;
  using TwoTensors = std::tuple<Tensor, Tensor>;
  using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

  static Tensor add(const Tensor& self, const Tensor& other) {
    return Level::add(checked(AddArguments{self, other}));
  }

  static Tensor linear(const Tensor& input, const Tensor& weight, const MaybeTensor& bias) {
    return Level::linear(checked(LinearArguments{"linear", input, weight, present(bias)}));
  }

  static Tensor linear_gelu(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                            std::string_view approximate) {
    return Level::linear(
        checked(LinearArguments{"linear_gelu", input, weight, present(bias), activation_from(approximate)}));
  }

  static TwoTensors linear_gelu_with_preactivation(const Tensor& input, const Tensor& weight,
                                                   const MaybeTensor& bias, std::string_view approximate) {
    return Level::linear_gelu_with_preactivation(
        checked(LinearArguments{"linear_gelu", input, weight, present(bias), activation_from(approximate)}));
  }

  static Tensor softmax(const Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype) {
    return Level::softmax(checked(SoftmaxArguments{self, dim, dtype}));
  }

  static Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const MaybeTensor& mask, double dropout_p, bool is_causal,
                          std::optional<double> scale, bool enable_gqa) {
    return Level::attention(
        checked(AttentionArguments{"scaled_dot_product_attention", query, key, value, present(mask),
                                   dropout_p, is_causal, 0, scale, enable_gqa}));
  }

  static TwoTensors flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    bool is_causal, int64_t diagonal, std::optional<double> scale) {
    return Level::flash_attention(checked(AttentionArguments{"flash_attention", query, key, value, kNoTensor,
                                                             0, is_causal, diagonal, scale, true}));
  }

  static ThreeTensors flash_attention_backward(const Tensor& grad, const Tensor& query, const Tensor& key,
                                               const Tensor& value, const Tensor& output,
                                               const Tensor& logsumexp, bool is_causal, int64_t diagonal,
                                               std::optional<double> scale) {
    const AttentionArguments a{
        "flash_attention_backward", query, key, value, kNoTensor, 0, is_causal, diagonal, scale, true};
    return Level::flash_attention_backward(checked(a), checked(AttentionOutputs{grad, output, logsumexp}));
  }

  /// Registers the operators that a user calls.
  static void register_public(torch::Library& m) {
    if (!may_register()) return;
    m.impl("add", add);
    m.impl("linear", linear);
    m.impl("linear_gelu", linear_gelu);
    m.impl("softmax", softmax);
    m.impl("scaled_dot_product_attention", attention);
    m.impl("flash_attention", flash_attention);
  }

  /// Registers every operator.
  static void register_all(torch::Library& m) {
    if (!may_register()) return;
    register_public(m);
    m.impl("_linear_gelu_with_preactivation", linear_gelu_with_preactivation);
    m.impl("flash_attention_backward", flash_attention_backward);
  }

 private:
  /// An undefined tensor where there may be none is none; ATen's attention does not know that.
  static const MaybeTensor& present(const MaybeTensor& tensor) {
    return tensor.has_value() && !tensor->defined() ? kNoTensor : tensor;
  }

  template <typename Arguments>
  static const Arguments& checked(const Arguments& a) {
    if constexpr (Level::kChecks) check(a);
    if constexpr (!Level::kHasPlans) with_torch_errors(policy);  // a wrong one is an error of every call
    return a;
  }
};

}  // namespace tessera
