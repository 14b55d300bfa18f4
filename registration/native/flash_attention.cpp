#include "registration/native/composed_attention.h"
#include "registration/native/fused_attention.h"
#include "registration/native/native.h"

namespace tessera::native {

bool composes_flash_attention(const AttentionArguments& a) {
  return fused_backend(a) == at::SDPBackend::math;
}

std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a) {
  const at::SDPBackend backend = fused_backend(a);
  const auto [output, logsumexp] =
      backend == at::SDPBackend::math ? composed_attention(a) : fused_attention(backend, a);
  return {restride(output, a), logsumexp.detach().to(at::kFloat).contiguous()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const AttentionArguments& a,
                                                                        const AttentionOutputs& o) {
  const auto fused = fused_attention_backward(a, o);
  const auto [query, key, value] = fused.has_value() ? *fused : composed_attention_backward(a, o.grad);
  return {query.contiguous(), key.contiguous(), value.contiguous()};
}

std::tuple<at::Tensor, at::Tensor> flash_attention_formula(const AttentionArguments& a) {
  return composed_attention(a);
}

}  // namespace tessera::native
