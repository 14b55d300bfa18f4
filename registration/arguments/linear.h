#pragma once
#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>

#include "registration/arguments/operator_name.h"

namespace tessera {

enum class Activation { none, gelu_erf, gelu_tanh };

/// The activation of linear_gelu; throws where `approximate` is neither "none" nor "tanh".
Activation activation_from(std::string_view approximate);
/// at::gelu's word for it.
std::string_view approximate_of(Activation activation);

/// A call of linear, linear_gelu or _linear_gelu_with_preactivation: references to the caller's arguments.
struct LinearArguments {
  OperatorName op;
  const at::Tensor& input;   ///< [*, K]
  const at::Tensor& weight;  ///< [N, K]
  const std::optional<at::Tensor>& bias;
  Activation activation = Activation::none;

  bool has_bias() const { return bias.has_value() && bias->defined(); }
  /// Whether forward in training keeps what the activation saw.
  bool keeps_in_training() const { return activation != Activation::none; }
};

/// Throws c10::Error naming the argument that does not fit.
void check(const LinearArguments& a);

/// [*, N]
c10::SymDimVector output_sizes(const LinearArguments& a);

}  // namespace tessera
