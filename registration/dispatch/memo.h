#pragma once
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "registration/dispatch/arguments_key.h"

/// What a thread remembers of its calls that ATen runs on a GPU by their plan, under policy auto: the next
/// call with such arguments neither describes itself to a program nor asks the decisions of the process.
namespace tessera::dispatch {

/// Of the decisions in force; forget_decisions() begins another.
std::uint64_t epoch_of_decisions();

/// One call's question, made before the call is decided: a decision that is forgotten meanwhile is not
/// remembered.
class Memo {
 public:
  template <typename... Arguments>
  explicit Memo(const Arguments&... arguments) : key_(arguments...), epoch_(epoch_of_decisions()) {}

  /// Whether the policy is auto and ATen runs the call, as this thread remembers.
  bool says_native() const;
  /// ATen runs the call, by its plan.
  void remember_native() const;

 private:
  ArgumentsKey key_;
  std::uint64_t epoch_;
};

/// Of the call that runs forward in training.
template <typename Arguments>
Memo training_memo_of(const Arguments& a) {
  return Memo(a);
}
inline Memo training_memo_of(const LinearArguments& a) {
  return Memo(a, a.keeps_in_training());
}

inline c10::DispatchKeySet keys_of(const at::Tensor& tensor) {
  return tensor.key_set();
}
inline c10::DispatchKeySet keys_of(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? tensor->key_set() : c10::DispatchKeySet();
}

/// Whether a call with these tensors, which is at the autograd key, meets the kernels of a GPU next: no mode
/// and no wrapper of tensors is to see it before.
template <typename... Tensors>
bool is_next_at_gpu(const Tensors&... tensors) {
  constexpr c10::DispatchKeySet kPassed = c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                          c10::autocast_dispatch_keyset |
                                          c10::DispatchKeySet({c10::DispatchKey::BackendSelect});
  const auto here = c10::impl::tls_local_dispatch_key_set();
  const c10::DispatchKeySet keys = (here.included_ | ... | keys_of(tensors));
  return keys - here.excluded_ - kPassed == c10::DispatchKeySet(c10::DispatchKey::CUDA);
}

}  // namespace tessera::dispatch
