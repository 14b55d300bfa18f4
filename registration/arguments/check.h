#pragma once
#include <ATen/core/Tensor.h>
#include <string_view>

/// Checks that several operators share. Each throws c10::Error "OP(): expected ... but got ...".
namespace tessera {

/// A dtype that ATen computes products and exponentials in.
inline bool is_real_float(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble;
}

/// Of what a dtype, a shape and a device are asked next.
inline void check_defined(std::string_view op, std::string_view name, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), op, "(): expected ", name, " to be a tensor, but got an undefined one");
}

/// These check that the tensor is defined, too.
void check_real_float(std::string_view op, std::string_view name, const at::Tensor& tensor);

/// `tensor` has the dtype and the device of the operator's first tensor.
void check_dtype_like(std::string_view op, std::string_view name, const at::Tensor& tensor,
                      std::string_view first_name, const at::Tensor& first);
void check_device_like(std::string_view op, std::string_view name, const at::Tensor& tensor,
                       std::string_view first_name, const at::Tensor& first);

}  // namespace tessera
