#pragma once
#include <ATen/Context.h>

#include "perf/call_spec.h"

namespace tessera::perf {

/// torch's float32-matmul-precision as a call's words have it, whatever the process had, until the end of the
/// scope.
class MatmulPrecision {
 public:
  explicit MatmulPrecision(const CallSpec& spec) { at::globalContext().setAllowTF32CuBLAS(spec.tf32); }
  ~MatmulPrecision() { at::globalContext().setAllowTF32CuBLAS(before_); }
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;

 private:
  bool before_ = at::globalContext().float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL) ==
                 at::Float32Precision::TF32;
};

}  // namespace tessera::perf
