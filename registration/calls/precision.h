#pragma once
#include <ATen/core/Tensor.h>

namespace tessera {

/// Whether torch allows TF32 in products of such a tensor at this moment: of f32, and not on a CPU. Cheap;
/// see https://pytorch.org/docs/2.11/generated/torch.set_float32_matmul_precision.html.
bool allows_tf32(const at::Tensor& operand);

}  // namespace tessera
