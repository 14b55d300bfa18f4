#pragma once
#include <tuple>

#include "registration/arguments/attention.h"

/// Attention without a mask tensor from matrix products, some query rows at a time, for the calls that no
/// fused operator of ATen takes. Holds at most 64 MiB of scores; computes in fp32 (fp64 for fp64).
namespace tessera::native {

/// Output [B, H, S_q, D_v] and logsumexp fp32 [B, H, S_q].
std::tuple<at::Tensor, at::Tensor> composed_attention(const AttentionArguments& a);

/// Gradients of query, key and value. The weights are computed again: a kernel's own logsumexp and output are
/// rounded otherwise than these products, which in fp32 would show where scores are large.
std::tuple<at::Tensor, at::Tensor, at::Tensor> composed_attention_backward(const AttentionArguments& a,
                                                                           const at::Tensor& grad);

}  // namespace tessera::native
