#include "registration/gradients/derivatives.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/forward_grad.h>

namespace tessera {

bool transforms() {
  constexpr c10::DispatchKeySet kLayers(
      {c10::DispatchKey::FuncTorchDynamicLayerFrontMode, c10::DispatchKey::FuncTorchDynamicLayerBackMode});
  return c10::impl::tls_local_dispatch_key_set().included_.has_any(kLayers);
}

bool has_forward_gradient(const at::Tensor& tensor) {
  return tensor.defined() && tensor._fw_grad(0).defined();
}

bool forward_mode() {
  constexpr std::uint64_t kOnlyLevel = 0;  // torch nests none
  return torch::autograd::ForwardADLevel::try_get_by_idx(kOnlyLevel) != nullptr;
}

bool is_traced(const at::Tensor& tensor) {
  // Not Meta: a backend's key holds that of dense tensors, which has_any would find in all of them.
  constexpr c10::DispatchKeySet kRecords({c10::DispatchKey::Python, c10::DispatchKey::Functionalize});
  return tensor.is_meta() || tensor.key_set().has_any(kRecords);
}

bool tracing_everything() {
  using c10::impl::TorchDispatchModeKey;
  using c10::impl::TorchDispatchModeTLS;
  return c10::impl::dispatch_mode_enabled() &&
         (TorchDispatchModeTLS::get_mode(TorchDispatchModeKey::FAKE).has_value() ||
          TorchDispatchModeTLS::get_mode(TorchDispatchModeKey::PROXY).has_value() ||
          TorchDispatchModeTLS::get_mode(TorchDispatchModeKey::FUNCTIONAL).has_value());
}

bool grad_mode() {
  return at::GradMode::is_enabled();
}

}  // namespace tessera
