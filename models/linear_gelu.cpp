#include "models/linear_gelu.h"

#include <cmath>
#include <torch/nn/init.h>
#include <torch/types.h>

#include "tile_core/base/error.h"

namespace tessera::models {

LinearGeluOptions::LinearGeluOptions(int64_t in_features, int64_t out_features)
    : in_features_(in_features), out_features_(out_features) {}

LinearGeluImpl::LinearGeluImpl(const LinearGeluOptions& options) : options(options) {
  if (options.approximate() != "none" && options.approximate() != "tanh")
    throw UserError::format("LinearGelu: expected approximate 'none' or 'tanh' but got '{}'",
                            options.approximate());
  reset();
}

void LinearGeluImpl::reset() {
  weight = register_parameter("weight", torch::empty({options.out_features(), options.in_features()}));
  torch::nn::init::kaiming_uniform_(weight, std::sqrt(5));
  if (!options.bias()) return;
  bias = register_parameter("bias", torch::empty(options.out_features()));
  double bound = options.in_features() > 0 ? 1 / std::sqrt(options.in_features()) : 0;
  torch::nn::init::uniform_(bias, -bound, bound);
}

at::Tensor LinearGeluImpl::forward(const at::Tensor& input) const {
  return linear_gelu(options.backend(), input, weight, bias, options.approximate());
}

}  // namespace tessera::models
