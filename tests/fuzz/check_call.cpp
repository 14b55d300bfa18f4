#include "tests/fuzz/check_call.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>

#include "perf/accuracy.h"
#include "perf/matmul_precision.h"
#include "registration/calls/precision.h"
#include "tessera/policy.h"
#include "tests/fuzz/operator_call.h"
#include "tests/support/same_bits.h"

namespace tessera::fuzz {
namespace {

/// The policy, as long as it lives.
struct WithPolicy {
  explicit WithPolicy(Policy policy) { set_policy(policy); }
  ~WithPolicy() { set_policy({}); }
  WithPolicy(const WithPolicy&) = delete;
  WithPolicy& operator=(const WithPolicy&) = delete;
};

/// What came of a call: tensors, or an error.
struct Outcome {
  Tensors results;
  std::string error;  ///< empty: none
};

/// Ours may throw c10::Error alone; ATen throws others, too.
template <typename Error>
Outcome outcome_of(const std::function<Tensors(const Tensors&)>& call, const Tensors& tensors) {
  try {
    return {call(tensors), ""};
  } catch (const Error& error) {
    if constexpr (std::is_same_v<Error, c10::Error>) return {{}, error.what_without_backtrace()};
    return {{}, error.what()};
  }
}

Tensors in_float64(const Tensors& tensors) {
  Tensors result;
  for (const at::Tensor& t : tensors) result.push_back(t.is_floating_point() ? t.to(at::kDouble) : t);
  return result;
}

double ulp_of(at::ScalarType dtype) {
  return dtype == at::kFloat ? 0x1p-23 : dtype == at::kHalf ? 0x1p-10 : 0x1p-7;
}

double slack_of(at::ScalarType dtype) {
  return perf::slack(dtype == at::kFloat ? f32 : dtype == at::kHalf ? f16 : bf16);
}

/// What a result may be away from the reference besides what native is: the contract's rule holds for the
/// worst of three seeds of many numbers, and here native's error may be 0 by luck.
struct Allowance {
  double factor = perf::kForward;     ///< times native's error
  double half_ulps = 1;               ///< of the largest magnitude, where native's error is less
  double least_magnitude = 0;         ///< of what is added up, beside which a result may be small
  double largest_score = 0;           ///< in f32, of which half an ulp is a relative error of the weights
  at::ScalarType dtype = at::kFloat;  ///< that values on the way were rounded to
  double product_ulp = 0;             ///< what operands of products were rounded to, where that is coarser
};

/// Empty, or how a result is farther from the reference than it may be. Of several native results the one
/// that is farthest counts.
std::string too_far(const at::Tensor& result, const Tensors& natives, const at::Tensor& reference,
                    const Allowance& allowance) {
  if (result.sizes() != reference.sizes())
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(result.sizes(), ", "),
                       fmt::join(reference.sizes(), ", "));
  const perf::Error ours = perf::error_of(result, reference);
  const double magnitude = std::max(ours.magnitude, allowance.least_magnitude);
  const double of_scores = allowance.dtype == at::kFloat ? ulp_of(at::kFloat) * allowance.largest_score : 0;
  const double ulp = std::max(ulp_of(allowance.dtype), allowance.product_ulp);
  double native_error = (ulp * allowance.half_ulps + of_scores) / 2 * magnitude;
  for (const at::Tensor& native : natives) {
    if (native.sizes() != reference.sizes()) continue;  // ATen's kernels of empty tensors
    const double error = perf::error_of(native, reference).maximum;
    if (std::isfinite(error)) native_error = std::max(native_error, error);
  }
  const double allowed = allowance.factor * native_error + slack_of(allowance.dtype) * magnitude;
  if (ours.maximum <= allowed) return "";
  return fmt::format("error {:.3g}, native's is {:.3g}, of {:.3g}", ours.maximum, native_error, magnitude);
}

/// The results at one place of those that have as many.
Tensors each_at(std::size_t place, const std::vector<Tensors>& results) {
  Tensors found;
  for (const Tensors& r : results) {
    if (place < r.size()) found.push_back(r[place]);
  }
  return found;
}

at::ScalarType coarser_of(at::ScalarType a, at::ScalarType b) {
  return ulp_of(a) < ulp_of(b) ? b : a;
}

Tensors gradients(const std::function<Tensors(const Tensors&)>& call, const Tensors& tensors,
                  const at::Tensor& grad) {
  Tensors leaves, wanted;
  for (const at::Tensor& t : tensors) {
    leaves.push_back(t.is_floating_point() ? t.detach().set_requires_grad(true) : t);
    if (t.is_floating_point()) wanted.push_back(leaves.back());
  }
  const at::Tensor output = call(leaves).front();
  return torch::autograd::grad({output}, wanted, {grad.to(output.scalar_type())});
}

class CallCheck {
 public:
  CallCheck(OperatorCall call, Counts& counts) : call_(std::move(call)), counts_(counts) {}

  std::optional<Failure> run(bool with_gradients) {
    try {
      ++counts_[call_.text.substr(0, call_.text.find_first_of(" \n"))];
      if (in_tf32()) ++counts_["in TF32"];
      values();
      if (with_gradients && !call_.is_spoiled) compare_gradients();
    } catch (const Failure& failure) {
      return failure;
    } catch (const std::exception& error) {
      return failure_of("error", error.what());
    }
    return std::nullopt;
  }

 private:
  Failure failure_of(std::string kind, std::string details) const {
    const std::string op = call_.text.substr(0, call_.text.find_first_of(" \n"));
    return {op + ": " + std::move(kind), std::move(details),
            fmt::format("{}\npolicy {}{}", call_.text, policy() == Policy::tile ? "tile" : "auto",
                        allows_tf32(at::empty({}, at::kMeta)) ? ", TF32 allowed" : "")};
  }

  bool in_tf32() const { return call_.has_products && allows_tf32(call_.tensors.front()); }

  /// Attention rounds its weights and its result, and its backward starts from both.
  Allowance allowance_of(const Tensors& inputs) const {
    constexpr double kUlpOfTf32 = 0x1p-10;
    Allowance result{.least_magnitude = call_.terms};
    if (in_tf32()) result.product_ulp = kUlpOfTf32;
    if (call_.largest_score) {
      result.half_ulps = 2;
      result.largest_score = call_.largest_score(inputs);
    }
    return result;
  }

  /// What ATen's kernel gives; nothing where it refuses what its formula takes, and of empty tensors, by
  /// whose sizes some of them divide.
  Tensors fused(const std::function<Tensors(const Tensors&)>& call) {
    const auto is_empty = [](const at::Tensor& t) { return t.numel() == 0; };
    if (std::any_of(call_.tensors.begin(), call_.tensors.end(), is_empty)) return {};
    const Outcome outcome = outcome_of<std::exception>(call, call_.tensors);
    if (!outcome.error.empty()) ++counts_["refused by ATen's own kernel"];
    return outcome.results;
  }

  void values() {
    const Outcome native = outcome_of<std::exception>(call_.native, call_.tensors);
    const Outcome mine = outcome_of<c10::Error>(call_.ours, call_.tensors);
    if (!native.error.empty() && !call_.is_spoiled)
      throw failure_of("ATen refuses what was meant as legal", native.error);
    if (!mine.error.empty()) return refused(mine.error, native.error);
    if (!native.error.empty()) throw failure_of("ours takes what ATen refuses", native.error);
    if (call_.is_exact) {
      const at::Tensor &result = mine.results[0], &expected = native.results[0];
      if (result.strides() != expected.strides() || !test::same_bits(result, expected))
        throw failure_of("values", "not ATen's bits or strides");
      return;
    }
    const Tensors inputs = in_float64(call_.tensors), reference = call_.formula(inputs);
    Allowance allowance = allowance_of(inputs);
    std::vector<Tensors> natives = {native.results};
    if (call_.fused) natives.push_back(fused(call_.fused));
    for (std::size_t i = 0; i < reference.size(); ++i) {
      allowance.dtype = mine.results[i].scalar_type();
      const std::string far = too_far(mine.results[i], each_at(i, natives), reference[i], allowance);
      if (!far.empty()) throw failure_of(fmt::format("values of result {}", i), far);
    }
  }

  /// An error of ours names the operator, or is ATen's own; where ATen's is none, it says which case no
  /// kernel takes.
  void refused(const std::string& error, const std::string& native) {
    const bool unsupported = error.find("no tile kernel supports") != std::string::npos;
    const bool named = error.find("(): ") != std::string::npos || native.starts_with(error);
    if (!named) throw failure_of("an error without the operator's name", error);
    if (!call_.is_spoiled && !unsupported) throw failure_of("refuses a legal call", error);
    ++counts_[!native.empty() ? "refused as by ATen"
              : unsupported   ? "without a tile kernel"
                              : "refused by ours alone"];
  }

  void compare_gradients() {
    const Tensors reference_inputs = in_float64(call_.tensors);
    const at::Tensor shape = call_.formula(reference_inputs).front();
    const at::Tensor grad =
        shape.numel() == 0 ? at::zeros_like(shape)
                           : at::cos(at::arange(shape.numel(), shape.options()) * 1.7).view(shape.sizes());
    Tensors mine;
    try {
      mine = gradients(call_.ours, call_.tensors, grad);
    } catch (const c10::Error& error) {
      if (std::string(error.what_without_backtrace()).find("no tile kernel supports") == std::string::npos)
        throw;
      ++counts_["gradients without a tile kernel"];
      return;
    }
    ++counts_["gradients"];
    std::vector<Tensors> natives = {gradients(call_.native, call_.tensors, grad)};
    if (call_.fused) {
      natives.push_back(fused([&](const Tensors& t) { return gradients(call_.fused, t, grad); }));
    }
    const Tensors reference = gradients(call_.formula, reference_inputs, grad);
    Allowance allowance = allowance_of(reference_inputs);
    allowance.factor = perf::kGradient;
    allowance.half_ulps = 4;
    allowance.least_magnitude = call_.gradient_terms;
    const at::ScalarType output = call_.native(call_.tensors).front().scalar_type();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      allowance.dtype = coarser_of(mine[i].scalar_type(), output);
      const std::string far = too_far(mine[i], each_at(i, natives), reference[i], allowance);
      if (!far.empty()) throw failure_of(fmt::format("gradient {}", i), far);
    }
  }

  OperatorCall call_;
  Counts& counts_;
};

}  // namespace

std::optional<Failure> check_call(Choices& choices, const std::string& device, Counts& counts) {
  const bool runs_native = device == "cuda" && choices.chance(30);
  const WithPolicy scope(runs_native ? Policy::automatic : Policy::tile);
  CallSpec precision;
  precision.tf32 = choices.chance(30);  // says nothing on a CPU, and then changes nothing
  const perf::MatmulPrecision of_torch(precision);
  return check_call_as_it_is(choices, device, counts);
}

std::optional<Failure> check_call_as_it_is(Choices& choices, const std::string& device, Counts& counts) {
  constexpr int kOfInterpreter = 24, kOfDevice = 200;
  const bool with_gradients = choices.chance(20);
  OperatorCall call =
      operator_call(choices, at::Device(device), device == "cuda" ? kOfDevice : kOfInterpreter);
  return CallCheck(std::move(call), counts).run(with_gradients);
}

std::string command_of_call(const Choices& choices, const std::string& device) {
  const std::string first = device == "cuda" ? "0,0" : "0";  // what check_call decides before
  return fmt::format("tessera_fuzz --calls 1 --replay {},{} --device {}", first,
                     fmt::join(choices.made(), ","), device);
}

}  // namespace tessera::fuzz
