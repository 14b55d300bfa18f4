#include <c10/util/strides.h>

#include "registration/native/composed_attention.h"
#include "registration/native/fused_attention.h"
#include "registration/native/native.h"

namespace tessera::native {
namespace {

/// In the very strides of `at::empty`: `contiguous` leaves those of dims of size 1 as they are.
at::Tensor dense(const at::Tensor& t) {
  const at::Tensor c = t.contiguous();
  const at::DimVector strides = c10::contiguous_strides(c.sizes());
  return c.strides() == strides ? c : c.as_strided(c.sizes(), strides);
}

}  // namespace

bool composes_flash_attention(const AttentionArguments& a) {
  return fused_backend(a) == at::SDPBackend::math;
}

std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a) {
  const at::SDPBackend backend = fused_backend(a);
  const auto [output, logsumexp] =
      backend == at::SDPBackend::math ? composed_attention(a) : fused_attention(backend, a);
  return {restride(output, a), dense(logsumexp.detach().to(at::kFloat))};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const AttentionArguments& a,
                                                                        const AttentionOutputs& o) {
  const auto fused = fused_attention_backward(a, o);
  const auto [query, key, value] = fused.has_value() ? *fused : composed_attention_backward(a, o.grad);
  return {dense(query), dense(key), dense(value)};
}

std::tuple<at::Tensor, at::Tensor> flash_attention_formula(const AttentionArguments& a) {
  return composed_attention(a);
}

}  // namespace tessera::native
