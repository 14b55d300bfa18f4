#pragma once
#include <string>
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "models/backend.h"

namespace tessera::models {

struct LinearGeluOptions {
  LinearGeluOptions(int64_t in_features, int64_t out_features);

  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, out_features);
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(std::string, approximate) = "none";  ///< "none" (erf) or "tanh"
  TORCH_ARG(Backend, backend) = Backend::tessera;
};

/// gelu(input weight^T + bias). Parameters as torch.nn.Linear: weight [out, in], bias [out].
class LinearGeluImpl : public torch::nn::Cloneable<LinearGeluImpl> {
 public:
  LinearGeluImpl(int64_t in_features, int64_t out_features)
      : LinearGeluImpl(LinearGeluOptions(in_features, out_features)) {}
  explicit LinearGeluImpl(const LinearGeluOptions& options);

  /// Makes new parameters, drawn as torch.nn.Linear's.
  void reset() override;

  /// [*, in] -> [*, out].
  at::Tensor forward(const at::Tensor& input) const;

  LinearGeluOptions options;
  at::Tensor weight;
  at::Tensor bias;  ///< undefined without a bias
};

TORCH_MODULE(LinearGelu);

}  // namespace tessera::models
