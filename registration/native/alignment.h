#pragma once
#include <ATen/core/Tensor.h>

/// What ATen's fused attention takes for granted on a GPU.
namespace tessera::native {

/// The tensor where 16 bytes of a row can be read at a time, as ATen's fused kernels on a GPU do without
/// asking: a copy where they cannot.
at::Tensor aligned(const at::Tensor& t);

/// The output of one of ATen's fused operators, whose backward gets the gradient `aligned` and with the
/// output's strides: it reads 16 bytes of it without asking, and cuDNN's graph, kept for query, key and
/// value, has the strides of the first gradient. One that is not defined is 0: cuDNN's backward would leave
/// its results as they were allocated.
at::Tensor with_aligned_gradient(at::Tensor output);

}  // namespace tessera::native
