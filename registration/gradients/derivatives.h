#pragma once
#include <ATen/core/Tensor.h>
#include <optional>

namespace tessera {

/// Who is to differentiate a call.
enum class Derivatives {
  none,     ///< nobody: the call goes on below the autograd key
  aten,     ///< ATen: a functorch transform or forward-mode derivatives, which know ATen's operators only
  tracer,   ///< our own formulas, whatever the plan is: a compiler or exporter records the operators as they
            ///< are
  by_plan,  ///< ATen where the plan is native, our own formulas where a generated kernel runs
};

/// A functorch transform (vmap, grad, jvp, ...) is active in this thread.
bool transforms();

bool has_forward_gradient(const at::Tensor& tensor);
/// Forward-mode derivatives are computed in this process. Asked once for a call, where each of its tensors
/// would take a lock.
bool forward_mode();
/// A tensor of a compiler or exporter, or one without values.
bool is_traced(const at::Tensor& tensor);
/// A compiler or exporter sees every operator of this thread. Other modes of torch's dispatch, which count or
/// watch, see what runs.
bool tracing_everything();

inline bool has_forward_gradient(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() && has_forward_gradient(*tensor);
}
inline bool is_traced(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() && is_traced(*tensor);
}
/// What no tensor of inference has: gradients of either mode are in it.
inline bool has_autograd_state(const at::Tensor& tensor) {
  return tensor.defined() && tensor.unsafeGetTensorImpl()->autograd_meta() != nullptr;
}
inline bool has_autograd_state(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && has_autograd_state(*tensor);
}
inline bool requires_grad(const at::Tensor& tensor) {
  return tensor.requires_grad();
}
inline bool requires_grad(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() && tensor->requires_grad();
}

bool grad_mode();

/// For a call with these tensors.
template <typename... Tensors>
Derivatives derivatives_of(const at::Tensor& first, const Tensors&... rest) {
  if (transforms()) return Derivatives::aten;
  if (!has_autograd_state(first) && !(has_autograd_state(rest) || ...)) return Derivatives::none;
  if (forward_mode() && (has_forward_gradient(first) || (has_forward_gradient(rest) || ...)))
    return Derivatives::aten;
  if (!grad_mode() || !(requires_grad(first) || (requires_grad(rest) || ...))) return Derivatives::none;
  const bool traced = tracing_everything() || is_traced(first) || (is_traced(rest) || ...);
  return traced ? Derivatives::tracer : Derivatives::by_plan;
}

}  // namespace tessera
