#pragma once
#include <tuple>

#include "registration/arguments/add.h"
#include "registration/arguments/attention.h"
#include "registration/arguments/linear.h"
#include "registration/arguments/softmax.h"

/// The operators with our own gradients: each runs the operator below the autograd key and records a node
/// whose backward is made of ATen's operators. Second derivatives are right: under create_graph a backward
/// uses only what can be differentiated.
namespace tessera::gradients {

at::Tensor add(const AddArguments& a);
at::Tensor linear(const LinearArguments& a);  ///< linear and linear_gelu
at::Tensor softmax(const SoftmaxArguments& a);
at::Tensor attention(const AttentionArguments& a);  ///< without dropout
std::tuple<at::Tensor, at::Tensor> flash_attention(const AttentionArguments& a);

}  // namespace tessera::gradients
