#pragma once
#include <ATen/SDPBackend.h>
#include <tuple>

#include "registration/arguments/attention.h"

/// ATen's fused attention operators, which give logsumexp and take it in their backward.
/// at::scaled_dot_product_attention hides both.
namespace tessera::native {

/// A call that ATen's fused operators answer with NaN: they multiply the -inf of a masked score by a scale <=
/// 0.
bool aten_is_wrong(const AttentionArguments& a);

/// Whether a grid of ATen's fused kernels has a block for every batch and head.
bool fits_grid(const AttentionArguments& a);

/// The operator that at::scaled_dot_product_attention would choose; math where it has none, or none that is
/// right: shifted diagonals, empty tensors.
at::SDPBackend fused_backend(const AttentionArguments& a);

/// Output in ATen's order and logsumexp [B, H, S_q]; backend is not math.
std::tuple<at::Tensor, at::Tensor> fused_attention(at::SDPBackend backend, const AttentionArguments& a);

/// Gradients of query, key and value; nullopt where no operator takes the call.
std::optional<std::tuple<at::Tensor, at::Tensor, at::Tensor>> fused_attention_backward(
    const AttentionArguments& a, const AttentionOutputs& o);

}  // namespace tessera::native
