#include "perf/accuracy.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

#include "perf/inputs.h"
#include "perf/matmul_precision.h"
#include "perf/natives.h"
#include "perf/reference.h"
#include "registration/calls/views.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

using Tensors = std::vector<at::Tensor>;

/// The worse of two.
const Accuracy& worse(const Accuracy& a, const Accuracy& b) {
  return a.used() >= b.used() ? a : b;
}

/// The worst of the gradients.
Accuracy compare(const Tensors& ours, const Tensors& native, const Tensors& reference, DType dtype) {
  Accuracy worst{.dtype = dtype, .factor = kGradient};
  for (std::size_t i = 0; i < reference.size(); ++i) {
    worst = worse(
        {error_of(ours.at(i), reference[i]), error_of(native.at(i), reference[i]), dtype, kGradient}, worst);
  }
  return worst;
}

Tensors gradients(const Tensors& inputs, const at::Tensor& grad,
                  const std::function<at::Tensor(const Tensors&)>& run) {
  Tensors leaves, wanted;
  for (const at::Tensor& t : inputs) {
    leaves.push_back(t.is_floating_point() ? t.detach().set_requires_grad(true) : t);
    if (t.is_floating_point()) wanted.push_back(leaves.back());
  }
  return torch::autograd::grad({run(leaves)}, wanted, {grad});
}

}  // namespace

Error error_of(const at::Tensor& result, const at::Tensor& reference) {
  const at::NoGradGuard no_grad;
  if (result.sizes() != reference.sizes())
    throw UserError::format("a result of sizes [{}] has a reference of [{}]", fmt::join(result.sizes(), ", "),
                            fmt::join(reference.sizes(), ", "));
  if (reference.numel() == 0) return {};
  const at::Tensor found = result.to(at::kDouble);
  const at::Tensor finite = reference.isfinite();
  const at::Tensor alike =
      (reference.isnan() & found.isnan()) | (reference == found) | (finite & found.isfinite());
  const at::Tensor zero = at::zeros({}, reference.options());
  const at::Tensor difference = at::where(finite & found.isfinite(), found - reference, zero);
  Error error{.maximum = difference.abs().max().item<double>(),
              .rms = difference.square().mean().sqrt().item<double>(),
              .magnitude = at::where(finite, reference, zero).abs().max().item<double>()};
  if (!alike.all().item<bool>()) error.maximum = std::numeric_limits<double>::infinity();
  return error;
}

bool Error::is_finite() const {
  return std::isfinite(maximum) && std::isfinite(rms);
}

double slack(DType dtype) {
  return dtype == f32 ? 1e-6 : dtype == f16 ? 1e-4 : 1e-3;
}

bool Accuracy::holds() const {
  return ours.is_finite() && ours.maximum <= allowed_maximum() && ours.rms <= allowed_rms();
}

double Accuracy::used() const {
  if (!ours.is_finite()) return std::numeric_limits<double>::infinity();
  const auto share = [](double error, double allowed) { return error == 0 ? 0 : error / allowed; };
  return std::max(share(ours.maximum, allowed_maximum()), share(ours.rms, allowed_rms()));
}

std::string Accuracy::text() const {
  return fmt::format("error {:.1e} max, {:.1e} rms; native {:.1e}, {:.1e}; allowed {:.1e}, {:.1e}",
                     ours.maximum, ours.rms, native.maximum, native.rms, allowed_maximum(), allowed_rms());
}

std::vector<Expected> expected_of(const CallSpec& spec, const Tensors& inputs) {
  const Tensors references = reference(spec, inputs), natives = native_outputs(spec, inputs);
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const bool is_logsumexp = spec.is_attention() && i == 1;
    expected.push_back({.reference = references[i],
                        .native = error_of(natives.at(i), references[i]),
                        .dtype = dtype_of(natives[i].scalar_type()).value(),
                        .least_magnitude = is_logsumexp ? 1.0 : 0.0});
  }
  return expected;
}

Accuracy accuracy_of(const at::Tensor& result, const Expected& expected) {
  Accuracy accuracy{error_of(result, expected.reference), expected.native, expected.dtype};
  accuracy.ours.magnitude = std::max(accuracy.ours.magnitude, expected.least_magnitude);
  return accuracy;
}

Accuracy measure_accuracy(const CallSpec& spec, const std::string& device, int seeds) {
  const at::NoGradGuard no_grad;
  const MatmulPrecision precision(spec);
  Accuracy worst{.dtype = spec.dtype};
  for (int seed = 0; seed < seeds; ++seed) {
    const Tensors inputs = make_inputs(spec, device, static_cast<std::uint64_t>(seed));
    const Tensors ours = run_tessera(spec, inputs);
    const std::vector<Expected> expected = expected_of(spec, inputs);
    for (std::size_t i = 0; i < ours.size(); ++i) worst = worse(accuracy_of(ours[i], expected.at(i)), worst);
  }
  return worst;
}

Accuracy measure_gradient_accuracy(const CallSpec& given, const std::string& device, int seeds) {
  CallSpec spec = given;
  spec.training = false;  // the operator itself: where a gradient is needed it runs the kernel of training
  const MatmulPrecision precision(spec);
  Accuracy worst{.dtype = spec.dtype, .factor = kGradient};
  for (int seed = 0; seed < seeds; ++seed) {
    const Tensors inputs = make_inputs(spec, device, static_cast<std::uint64_t>(seed));
    const at::Tensor output = run_native(spec, inputs);
    at::manual_seed(static_cast<std::uint64_t>(seed));
    const at::Tensor grad = at::randn(output.sizes(), output.options().dtype(at::kFloat)).to(output.dtype());
    worst = worse(compare(gradients(inputs, grad, [&](const Tensors& x) { return tessera_call(spec, x)(); }),
                          gradients(inputs, grad, [&](const Tensors& x) { return run_native(spec, x); }),
                          reference_gradients(spec, inputs, grad), spec.dtype),
                  worst);
  }
  return worst;
}

}  // namespace tessera::perf
