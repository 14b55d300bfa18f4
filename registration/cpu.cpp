#include "registration/kernels.h"
#include "registration/native/native.h"

// The CPU runs ATen's operators.
namespace tessera {
namespace {

struct Cpu {
  static constexpr bool kChecks = true;

  static at::Tensor add(const AddArguments& a) { return native::add(a); }
  static at::Tensor linear(const LinearArguments& a) { return native::linear(a); }
  static std::tuple<at::Tensor, at::Tensor> linear_gelu_with_preactivation(const LinearArguments& a) {
    return native::linear_gelu_with_preactivation(a);
  }
  static at::Tensor softmax(const SoftmaxArguments& a) { return native::softmax(a); }
  static at::Tensor attention(const AttentionArguments& a) { return native::attention(a); }
  static std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a) {
    return native::flash_attention(a);
  }
  static std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
      const AttentionArguments& a, const AttentionOutputs& outputs) {
    return native::flash_attention_backward(a, outputs);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(tessera, CPU, m) {
  Kernels<Cpu>::register_all(m);
}

}  // namespace tessera
