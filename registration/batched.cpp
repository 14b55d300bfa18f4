#include "registration/kernels.h"
#include "registration/native/native.h"

// vmap runs ATen's operators, which know how to take a batch dim.
namespace tessera {
namespace {

struct Batched {
  static constexpr bool kChecks = true;
  static constexpr bool kHasPlans = false;

  static at::Tensor add(const AddArguments& a) { return native::add(a); }
  static at::Tensor linear(const LinearArguments& a) { return native::linear(a); }
  static at::Tensor softmax(const SoftmaxArguments& a) { return native::softmax(a); }
  static at::Tensor attention(const AttentionArguments& a) { return native::attention_formula(a); }
  static std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a) {
    return native::flash_attention_formula(a);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(tessera, FuncTorchBatched, m) {
  Kernels<Batched>::register_public(m);
}

}  // namespace tessera
