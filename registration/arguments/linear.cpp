#include "registration/arguments/linear.h"

#include "registration/arguments/check.h"

namespace tessera {

Activation activation_from(std::string_view approximate) {
  if (approximate == "none") return Activation::gelu_erf;
  TORCH_CHECK(approximate == "tanh", "linear_gelu(): expected approximate to be 'none' or 'tanh', but got '",
              approximate, "'");
  return Activation::gelu_tanh;
}

std::string_view approximate_of(Activation activation) {
  return activation == Activation::gelu_tanh ? "tanh" : "none";
}

void check(const LinearArguments& a) {
  check_real_float(a.op, "input", a.input);
  TORCH_CHECK(a.input.dim() >= 1, a.op, "(): expected input of shape [*, K], but got ", a.input.sym_sizes());
  check_dtype_like(a.op, "weight", a.weight, "input", a.input);
  check_device_like(a.op, "weight", a.weight, "input", a.input);
  TORCH_CHECK(a.weight.dim() == 2 && a.weight.sym_size(1) == a.input.sym_size(-1), a.op,
              "(): expected weight of shape [N, ", a.input.sym_size(-1), "] for input ", a.input.sym_sizes(),
              ", but got ", a.weight.sym_sizes());
  if (!a.has_bias()) return;
  check_dtype_like(a.op, "bias", *a.bias, "input", a.input);
  check_device_like(a.op, "bias", *a.bias, "input", a.input);
  TORCH_CHECK(a.bias->dim() == 1 && a.bias->sym_size(0) == a.weight.sym_size(0), a.op,
              "(): expected bias of shape [", a.weight.sym_size(0), "] for weight ", a.weight.sym_sizes(),
              ", but got ", a.bias->sym_sizes());
}

c10::SymDimVector output_sizes(const LinearArguments& a) {
  const auto sizes = a.input.sym_sizes();
  c10::SymDimVector output(sizes.begin(), sizes.end());
  output.back() = a.weight.sym_size(0);
  return output;
}

}  // namespace tessera
