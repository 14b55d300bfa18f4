#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "registration/registrar.h"
#include "tessera/ops.h"

// Under autocast products run in the lower precision and softmax in fp32, as ATen's CUDA rules say; add
// promotes by itself.
namespace tessera {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

c10::DispatchKeySet key_of(c10::DeviceType device) {
  return c10::DispatchKeySet(at::autocast::get_autocast_dispatch_key_from_device_type(device));
}

/// Casts inputs for one call: those of this device that are floating point but not fp64.
struct Lower {
  explicit Lower(c10::DeviceType device)
      : device(device), dtype(at::autocast::get_autocast_dtype(device)), no_autocast(key_of(device)) {}

  template <typename T>
  T operator()(const T& tensor) const {
    return at::autocast::cached_cast(dtype, tensor, device);
  }

  c10::DeviceType device;
  at::ScalarType dtype;
  c10::impl::ExcludeDispatchKeyGuard no_autocast;
};

template <c10::DeviceType device>
Tensor linear(const Tensor& input, const Tensor& weight, const MaybeTensor& bias) {
  const Lower lower(device);
  return tessera::linear(lower(input), lower(weight), lower(bias));
}

template <c10::DeviceType device>
Tensor linear_gelu(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                   std::string_view approximate) {
  const Lower lower(device);
  return tessera::linear_gelu(lower(input), lower(weight), lower(bias), approximate);
}

template <c10::DeviceType device>
Tensor softmax(const Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(key_of(device));
  const bool cast = !dtype.has_value() && at::autocast::is_eligible(self, device);
  return tessera::softmax(self, dim, cast ? at::kFloat : dtype);
}

template <c10::DeviceType device>
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const MaybeTensor& mask,
                 double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  const Lower lower(device);
  return tessera::scaled_dot_product_attention(lower(query), lower(key), lower(value), lower(mask), dropout_p,
                                               is_causal, scale, enable_gqa);
}

template <c10::DeviceType device>
std::tuple<Tensor, Tensor> flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           bool is_causal, int64_t diagonal, std::optional<double> scale) {
  const Lower lower(device);
  return tessera::flash_attention(lower(query), lower(key), lower(value), is_causal, diagonal, scale);
}

template <c10::DeviceType device>
void register_all(torch::Library& m) {
  if (!may_register()) return;
  m.impl("add", torch::CppFunction::makeFallthrough());
  m.impl("linear", linear<device>);
  m.impl("linear_gelu", linear_gelu<device>);
  m.impl("softmax", softmax<device>);
  m.impl("scaled_dot_product_attention", attention<device>);
  m.impl("flash_attention", flash_attention<device>);
  // Called by the operators above, after the casts.
  m.impl("_linear_gelu_with_preactivation", torch::CppFunction::makeFallthrough());
  m.impl("flash_attention_backward", torch::CppFunction::makeFallthrough());
}

}  // namespace

TORCH_LIBRARY_IMPL(tessera, AutocastCUDA, m) {
  register_all<c10::kCUDA>(m);
}
TORCH_LIBRARY_IMPL(tessera, AutocastCPU, m) {
  register_all<c10::kCPU>(m);
}

}  // namespace tessera
