#include "registration/calls/precision.h"

#include <ATen/Context.h>

namespace tessera {

bool allows_tf32(const at::Tensor& operand) {
  if (operand.scalar_type() != at::kFloat || operand.is_cpu()) return false;
  // What ATen asks before each product; allowTF32CuBLAS throws where old and new settings are mixed.
  return at::globalContext().float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL) ==
             at::Float32Precision::TF32 &&
         !at::NoTF32Guard::should_disable_tf32();
}

}  // namespace tessera
