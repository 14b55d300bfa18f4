#include <ATen/core/dispatch/Dispatcher.h>

#include "registration/arguments/check.h"
#include "registration/private_ops.h"
#include "registration/registrar.h"
#include "tessera/ops.h"

// The operators as C++ functions: each finds its schema once and calls through the dispatcher, which would
// say of a call without any tensor that its key has no kernel: so the first one is looked at here.
namespace tessera {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

template <typename Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  const std::string problem = torch_problem();
  TORCH_CHECK(problem.empty(), problem);
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other) {
  static const auto kOp = find<Tensor(const Tensor&, const Tensor&)>("tessera::add");
  check_defined("add", "self", self);
  return kOp.call(self, other);
}

Tensor linear(const Tensor& input, const Tensor& weight, const MaybeTensor& bias) {
  static const auto kOp = find<Tensor(const Tensor&, const Tensor&, const MaybeTensor&)>("tessera::linear");
  check_defined("linear", "input", input);
  return kOp.call(input, weight, bias);
}

Tensor linear_gelu(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                   std::string_view approximate) {
  using Signature = Tensor(const Tensor&, const Tensor&, const MaybeTensor&, std::string_view);
  static const auto kOp = find<Signature>("tessera::linear_gelu");
  check_defined("linear_gelu", "input", input);
  return kOp.call(input, weight, bias, approximate);
}

std::tuple<Tensor, Tensor> linear_gelu_with_preactivation(const Tensor& input, const Tensor& weight,
                                                          const MaybeTensor& bias,
                                                          std::string_view approximate) {
  using Signature =
      std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const MaybeTensor&, std::string_view);
  static const auto kOp = find<Signature>("tessera::_linear_gelu_with_preactivation");
  return kOp.call(input, weight, bias, approximate);
}

Tensor softmax(const Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype) {
  static const auto kOp =
      find<Tensor(const Tensor&, int64_t, std::optional<at::ScalarType>)>("tessera::softmax");
  check_defined("softmax", "self", self);
  return kOp.call(self, dim, dtype);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const MaybeTensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  using Signature = Tensor(const Tensor&, const Tensor&, const Tensor&, const MaybeTensor&, double, bool,
                           std::optional<double>, bool);
  static const auto kOp = find<Signature>("tessera::scaled_dot_product_attention");
  check_defined("scaled_dot_product_attention", "query", query);
  return kOp.call(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa);
}

std::tuple<Tensor, Tensor> flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           bool is_causal, int64_t diagonal, std::optional<double> scale) {
  using Signature = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, bool, int64_t,
                                               std::optional<double>);
  static const auto kOp = find<Signature>("tessera::flash_attention");
  check_defined("flash_attention", "query", query);
  return kOp.call(query, key, value, is_causal, diagonal, scale);
}

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(const Tensor& grad, const Tensor& query,
                                                            const Tensor& key, const Tensor& value,
                                                            const Tensor& output, const Tensor& logsumexp,
                                                            bool is_causal, int64_t diagonal,
                                                            std::optional<double> scale) {
  using Signature =
      std::tuple<Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                         const Tensor&, const Tensor&, bool, int64_t, std::optional<double>);
  static const auto kOp = find<Signature>("tessera::flash_attention_backward");
  return kOp.call(grad, query, key, value, output, logsumexp, is_causal, diagonal, scale);
}

}  // namespace tessera
