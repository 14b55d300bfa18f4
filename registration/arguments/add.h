#pragma once
#include <ATen/core/Tensor.h>

namespace tessera {

/// A call of add. ATen's rules for broadcasting, promotion and devices are its checks.
struct AddArguments {
  const at::Tensor& self;
  const at::Tensor& other;
};

inline void check(const AddArguments&) {}

}  // namespace tessera
