#pragma once
#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

#include "perf/call_spec.h"

/// The accuracy contract: a result's error is at most that of native torch in the same dtype, plus a share of
/// the largest magnitude.
namespace tessera::perf {

/// A result against its float64 reference, over all elements.
struct Error {
  double maximum = 0;  ///< infinite where one side has a NaN or an infinity that the other lacks
  double rms = 0;
  double magnitude = 0;  ///< the reference's largest finite one
  bool is_finite() const;
  bool operator==(const Error&) const = default;
};

/// Throws UserError where the sizes differ.
Error error_of(const at::Tensor& result, const at::Tensor& reference);

/// What the contract allows besides native's own error, as a share of the magnitude: 1e-6, 1e-4, 1e-3 for
/// f32, f16, bf16.
double slack(DType dtype);

inline constexpr double kForward = 1, kGradient = 1.5;  ///< times native's error

struct Accuracy {
  Error ours;
  Error native;
  DType dtype = f32;  ///< of the result
  double factor = kForward;

  double allowed_maximum() const { return factor * native.maximum + slack(dtype) * ours.magnitude; }
  double allowed_rms() const { return factor * native.rms + slack(dtype) * ours.magnitude; }
  /// Never where ours is not finite, whatever native's is.
  bool holds() const;
  /// How much of what is allowed is used; above 1 it does not hold.
  double used() const;
  /// "error 1.2e-03 max, 3.4e-04 rms; native 1.3e-03, 3.4e-04; allowed 2.3e-03, 1.3e-03".
  std::string text() const;
};

/// What one output should be, and how near ATen comes.
struct Expected {
  at::Tensor reference;  ///< fp64
  Error native;
  DType dtype;
  /// What the allowed share is taken of where the reference is smaller. Of a logsumexp, 1: the error of the
  /// logarithm of a sum is the sum's relative one, also where the logarithm is near 0.
  double least_magnitude = 0;
};

/// Of every output of the operator's kernels.
std::vector<Expected> expected_of(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// Throws UserError where the sizes differ.
Accuracy accuracy_of(const at::Tensor& result, const Expected& expected);

/// Measures our operator and ATen's on "cuda" or "cpu", on fresh inputs of each seed; the output and the seed
/// that use most of what is allowed.
Accuracy measure_accuracy(const CallSpec& spec, const std::string& device, int seeds = 3);

/// The same for the gradient of every floating-point input, the worst of them.
Accuracy measure_gradient_accuracy(const CallSpec& spec, const std::string& device, int seeds = 3);

}  // namespace tessera::perf
