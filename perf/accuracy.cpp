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
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

using Tensors = std::vector<at::Tensor>;

/// The worse of two.
const Accuracy& worse(const Accuracy& a, const Accuracy& b) {
  return a.used() >= b.used() ? a : b;
}

Accuracy compare(const Tensors& ours, const Tensors& native, const Tensors& reference, DType dtype,
                 double factor) {
  Accuracy worst{.dtype = dtype, .factor = factor};
  for (std::size_t i = 0; i < std::min(ours.size(), native.size()); ++i) {
    worst = worse({error_of(ours[i], reference[i]), error_of(native[i], reference[i]), dtype, factor}, worst);
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

Accuracy measure_accuracy(const CallSpec& spec, const std::string& device, int seeds) {
  const at::NoGradGuard no_grad;
  const MatmulPrecision precision(spec);
  Accuracy worst{.dtype = spec.dtype};
  for (int seed = 0; seed < seeds; ++seed) {
    const Tensors inputs = make_inputs(spec, device, static_cast<std::uint64_t>(seed));
    worst = worse(compare(run_tessera(spec, inputs), run_native(spec, inputs), reference(spec, inputs),
                          spec.dtype, kForward),
                  worst);
  }
  return worst;
}

Accuracy measure_gradient_accuracy(const CallSpec& spec, const std::string& device, int seeds) {
  const MatmulPrecision precision(spec);
  Accuracy worst{.dtype = spec.dtype, .factor = kGradient};
  for (int seed = 0; seed < seeds; ++seed) {
    const Tensors inputs = make_inputs(spec, device, static_cast<std::uint64_t>(seed));
    const at::Tensor output = run_native(spec, inputs).front();
    at::manual_seed(static_cast<std::uint64_t>(seed));
    const at::Tensor grad = at::randn(output.sizes(), output.options().dtype(at::kFloat)).to(output.dtype());
    worst =
        worse(compare(gradients(inputs, grad, [&](const Tensors& x) { return run_tessera(spec, x).front(); }),
                      gradients(inputs, grad, [&](const Tensors& x) { return run_native(spec, x).front(); }),
                      reference_gradients(spec, inputs, grad), spec.dtype, kGradient),
              worst);
  }
  return worst;
}

}  // namespace tessera::perf
