#pragma once
#include <ATen/core/Tensor.h>
#include <array>
#include <optional>

#include "registration/arguments/operator_name.h"

namespace tessera {

/// A call of scaled_dot_product_attention or flash_attention.
struct AttentionArguments {
  OperatorName op;
  const at::Tensor& query;  ///< [B, H, S_q, D]
  const at::Tensor& key;    ///< [B, H_kv, S_k, D]
  const at::Tensor& value;  ///< [B, H_kv, S_k, D_v]
  const std::optional<at::Tensor>& mask;
  double dropout_p = 0;
  bool is_causal = false;
  int64_t diagonal = 0;  ///< key j is visible to row i if j <= i + diagonal, under is_causal
  std::optional<double> scale;
  bool enable_gqa = false;

  bool has_mask() const { return mask.has_value() && mask->defined(); }
  /// The default is 1 / sqrt(D); 1 where D is 0 and there is nothing to scale.
  double scale_value() const;
};

/// What a call of flash_attention gave, and the gradient of its output.
struct AttentionOutputs {
  const at::Tensor& grad;
  const at::Tensor& output;
  const at::Tensor& logsumexp;  ///< fp32 [B, H, S_q]
};

/// For a call without a mask.
inline const std::optional<at::Tensor> kNoTensor;

/// Throws c10::Error naming the argument that does not fit.
void check(const AttentionArguments& a);

/// Of flash_attention_backward: throws c10::Error where a tensor is undefined.
void check(const AttentionOutputs& a);

/// [B, H, S_q, D_v]
std::array<c10::SymInt, 4> output_sizes(const AttentionArguments& a);

/// Strides of the output: dense, D_v innermost, B, H and S_q in the order of query's strides; the order [B,
/// H, S_q, D_v] where query's last stride is not 1.
std::array<c10::SymInt, 4> output_strides(const AttentionArguments& a);
/// Whether the strides of an output of these sizes are those; cheap.
bool has_output_strides(const at::Tensor& output, const AttentionArguments& a);

}  // namespace tessera
