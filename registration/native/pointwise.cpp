#include <ATen/ops/add.h>
#include <ATen/ops/softmax.h>

#include "registration/native/native.h"

namespace tessera::native {

at::Tensor add(const AddArguments& a) {
  return at::add(a.self, a.other);
}

at::Tensor softmax(const SoftmaxArguments& a) {
  return at::softmax(a.self, a.dim, a.dtype);
}

}  // namespace tessera::native
