#include "registration/arguments/check.h"

namespace tessera {

void check_real_float(std::string_view op, std::string_view name, const at::Tensor& tensor) {
  check_defined(op, name, tensor);
  TORCH_CHECK(is_real_float(tensor.scalar_type()), op, "(): expected ", name,
              " of dtype Half, BFloat16, Float or Double, but got ", tensor.scalar_type());
}

void check_dtype_like(std::string_view op, std::string_view name, const at::Tensor& tensor,
                      std::string_view first_name, const at::Tensor& first) {
  check_defined(op, name, tensor);
  TORCH_CHECK(tensor.scalar_type() == first.scalar_type(), op, "(): expected ", name, " of ", first_name,
              "'s dtype ", first.scalar_type(), ", but got ", tensor.scalar_type());
}

void check_device_like(std::string_view op, std::string_view name, const at::Tensor& tensor,
                       std::string_view first_name, const at::Tensor& first) {
  TORCH_CHECK(tensor.device() == first.device(), op, "(): expected ", name, " on ", first_name, "'s device ",
              first.device(), ", but got ", tensor.device());
}

}  // namespace tessera
