#pragma once
#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>
#include <tuple>

/// The operators `torch.ops.tessera.*` as C++ functions. Each calls through the dispatcher, so that autograd,
/// autocast and the device's key apply. Arguments, defaults and values are those of the ATen operator of the
/// same name; dtypes are fp16, bf16 and fp32 where nothing else is said, and all tensors of a call have one
/// dtype and one device. Any strides and sizes of 0 are legal. A call that breaks a stated rule throws
/// c10::Error "op(): expected ... but got ...", which names the argument.
namespace tessera {

/// self + other, broadcast and promoted as at::add. Any dtype that ATen adds.
at::Tensor add(const at::Tensor& self, const at::Tensor& other);

/// input [*, K] times weight [N, K] transposed, plus bias [N]: [*, N]. Products accumulate in fp32.
at::Tensor linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias = {});

/// gelu(linear(input, weight, bias)) without rounding the product before the activation: [*, N].
/// approximate: "none" (erf) or "tanh"; anything else throws.
at::Tensor linear_gelu(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias = {}, std::string_view approximate = "none");

/// exp(self - max) / sum over dim, accumulated in fp32; a row of -inf gives NaN. dim is in [-rank, rank).
/// dtype: what self is cast to first, and the dtype of the result.
at::Tensor softmax(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype = {});

/// softmax(scale * query key^T + mask) value. query [B, H, S_q, D], key and value [B, H_kv, S_k, D]: [B, H,
/// S_q, D], dense and in query's dimension order. Generated kernels take D up to 256, ATen runs beyond; where
/// D is 0 every score is 0. H % H_kv == 0, and H != H_kv needs enable_gqa.
/// attn_mask: broadcast to [B, H, S_q, S_k]; bool (true = attend) or query's dtype (added). Not with
/// is_causal. is_causal: key j is visible to row i if j <= i, also when S_q != S_k. A row that sees no key
/// gives 0. scale: 1 / sqrt(D) by default; any sign and 0 are legal.
at::Tensor scaled_dot_product_attention(const at::Tensor& query, const at::Tensor& key,
                                        const at::Tensor& value,
                                        const std::optional<at::Tensor>& attn_mask = {},
                                        double dropout_p = 0.0, bool is_causal = false,
                                        std::optional<double> scale = {}, bool enable_gqa = false);

/// Attention without a mask tensor that also returns logsumexp: fp32 [B, H, S_q], natural logarithm, -inf for
/// a row that sees no key, not differentiable. Shapes as above; heads are grouped wherever H != H_kv.
/// diagonal: under is_causal key j is visible to row i if j <= i + diagonal; S_k - S_q suits a KV cache.
std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& value, bool is_causal = false,
                                                   int64_t diagonal = 0, std::optional<double> scale = {});

}  // namespace tessera
