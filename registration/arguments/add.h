#pragma once
#include <ATen/core/Tensor.h>

#include "registration/arguments/check.h"

namespace tessera {

/// A call of add.
struct AddArguments {
  const at::Tensor& self;
  const at::Tensor& other;
};

/// Throws c10::Error where a tensor is undefined; ATen's rules for broadcasting, promotion and devices are
/// checked where the output is made.
inline void check(const AddArguments& a) {
  check_defined("add", "self", a.self);
  check_defined("add", "other", a.other);
}

}  // namespace tessera
