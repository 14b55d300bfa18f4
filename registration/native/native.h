#pragma once
#include <tuple>

#include "registration/arguments/add.h"
#include "registration/arguments/attention.h"
#include "registration/arguments/linear.h"
#include "registration/arguments/softmax.h"

/// The operators in terms of ATen's: the candidate that every plan has. Arguments have been checked. Called
/// above the autograd key they build ATen's own graph; below it they build none.
namespace tessera::native {

at::Tensor add(const AddArguments& a);
at::Tensor linear(const LinearArguments& a);  ///< linear and linear_gelu
std::tuple<at::Tensor, at::Tensor> linear_gelu_with_preactivation(const LinearArguments& a);
at::Tensor softmax(const SoftmaxArguments& a);

/// at::scaled_dot_product_attention, restrided where it answers in another order than `output_strides`.
at::Tensor attention(const AttentionArguments& a);
/// Output as `attention`'s, and logsumexp fp32 [B, H, S_q], outside the graph.
std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a);
/// Gradients of query, key and value; no S_q x S_k is held.
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const AttentionArguments& a,
                                                                        const AttentionOutputs& outputs);

/// Whether the two functions compose the call of products, because no operator of ATen takes it or takes it
/// rightly. The graph of such a call would hold all scores.
bool composes_attention(const AttentionArguments& a);
bool composes_flash_attention(const AttentionArguments& a);

/// The mask as ATen's products take it, which add one of any dtype: of a boolean one, 0 where it is true and
/// -inf elsewhere, in query's dtype.
at::Tensor added_mask(const at::Tensor& mask, const at::Tensor& query);

/// The same values in whatever order ATen answers, in operators that functorch's transforms know.
at::Tensor attention_formula(const AttentionArguments& a);
std::tuple<at::Tensor, at::Tensor> flash_attention_formula(const AttentionArguments& a);

/// `output` with the strides of `output_strides`; differentiable.
at::Tensor restride(const at::Tensor& output, const AttentionArguments& a);
/// [B, H, S, D] with these strides, which are those of dense tensors in some order of the dims;
/// differentiable.
at::Tensor restride(const at::Tensor& tensor, c10::SymIntArrayRef strides);

}  // namespace tessera::native
