#include <torch/library.h>
#include <torch/types.h>

#include "tessera/ops.h"

namespace tessera {

at::Tensor add(const at::Tensor& self, const at::Tensor& other) {
  return at::add(self, other);
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  return at::linear(input, weight, bias);
}

at::Tensor linear_gelu(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, std::string_view approximate) {
  return at::gelu(at::linear(input, weight, bias), approximate);
}

at::Tensor softmax(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype) {
  return at::softmax(self, dim, dtype);
}

at::Tensor scaled_dot_product_attention(const at::Tensor& query, const at::Tensor& key,
                                        const at::Tensor& value, const std::optional<at::Tensor>& attn_mask,
                                        double dropout_p, bool is_causal, std::optional<double> scale,
                                        bool enable_gqa) {
  return at::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
                                          enable_gqa);
}

}  // namespace tessera

TORCH_LIBRARY(tessera, library) {
  library.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", tessera::linear);
  library.def(
      "linear_gelu(Tensor input, Tensor weight, Tensor? bias=None, *, str approximate='none') -> Tensor",
      [](const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
         c10::string_view approximate) { return tessera::linear_gelu(input, weight, bias, approximate); });
  library.def("softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", tessera::softmax);
  library.def(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
      "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      tessera::scaled_dot_product_attention);
}
