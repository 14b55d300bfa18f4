#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <c10/cuda/CUDAFunctions.h>
#include <filesystem>
#include <functional>

#include "perf/bench.h"
#include "perf/inputs.h"
#include "perf/matmul_precision.h"
#include "perf/natives.h"
#include "perf/trial.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

// Every variant of a call, launched past the dispatch.
namespace tessera::perf {
namespace {

/// A variant of a call, tried.
struct Tried {
  autotune::Variant variant;
  Trial trial;
};

double relative(const Error& error) {
  return error.magnitude > 0 ? error.maximum / error.magnitude : error.maximum;
}

/// Every variant of the operator's space on these inputs, run once.
std::vector<Tried> try_space(const CallSpec& spec, const std::vector<at::Tensor>& inputs,
                             const std::vector<Expected>& expected, const Target& target,
                             const Report& report) {
  const Call call = bound_call(spec, inputs);
  std::vector<Tried> tried;
  for (const ops::Variant& variant : call.op().space(call.problem(), target)) {
    report("compiling " + autotune::to_text(dispatch::variant_of(variant)));
    tried.push_back(
        {dispatch::variant_of(variant), try_variant(call, dispatch::variant_of(variant), target, expected)});
  }
  return tried;
}

constexpr double kTied = 0.97;  // of a lead: what one measurement may differ from the next

/// By how much the fastest of our variants leads the fastest of ATen's, which come first.
double lead(const std::vector<double>& times, std::size_t natives) {
  const auto ours = times.begin() + static_cast<std::ptrdiff_t>(natives);
  if (ours == times.end()) return 0;
  return *std::min_element(times.begin(), ours) / *std::min_element(ours, times.end());
}

}  // namespace

std::vector<Checked> Bench::check(const CallSpec& spec) {
  const at::NoGradGuard no_grad;
  const MatmulPrecision precision(spec);
  const autotune::Device device = dispatch::device_of(c10::cuda::current_device());
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  std::vector<Checked> checked;
  for (const Tried& tried : try_space(spec, inputs, expected_of(spec, inputs), device.target, report_))
    checked.push_back({tried.variant, tried.trial.kernel != nullptr, tried.trial.failure});
  return checked;
}

std::vector<double> Bench::medians(const CallSpec& spec, const std::vector<Arm>& arms, std::size_t natives) {
  auto [seen, worthwhile] = timer_.glance(arms);
  std::vector<Arm> measured;
  for (std::size_t i : worthwhile) measured.push_back(arms[i]);
  const auto times = [&, seen = seen, worthwhile = worthwhile](const std::vector<Summary>& summaries) {
    std::vector<double> all = seen;
    for (std::size_t i = 0; i < summaries.size(); ++i) all[worthwhile[i]] = summaries[i].median;
    return all;
  };
  const std::vector<double> cold = times(timer_.cold(measured));
  if (spec.memory_bound()) return cold;
  const std::vector<double> steady = times(timer_.steady(measured));
  const double leads = lead(steady, natives), leads_cold = lead(cold, natives);
  const bool tied = std::min(leads, leads_cold) >= kTied;
  return (leads < leads_cold) != tied ? steady : cold;
}

autotune::Record Bench::tune(const CallSpec& spec) {
  const at::NoGradGuard no_grad;
  const MatmulPrecision precision(spec);
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  const autotune::Device device = dispatch::device_of(c10::cuda::current_device());
  const std::vector<Expected> expected = expected_of(spec, inputs);
  const std::vector<Tried> all = try_space(spec, inputs, expected, device.target, report_);
  std::vector<std::string> left_out;
  const std::vector<Native> candidates = natives(spec, inputs, left_out);
  std::vector<Arm> arms;
  for (const Native& native : candidates) arms.emplace_back(native.run);
  for (const Tried& tried : all) {
    if (tried.trial.failure.empty()) arms.emplace_back(std::cref(tried.trial));
  }
  report_("measuring");
  const std::vector<double> times = medians(spec, arms, candidates.size());
  const auto natives_end = times.begin() + static_cast<std::ptrdiff_t>(candidates.size());
  const auto best = std::min_element(times.begin(), natives_end);
  autotune::Record record{
      .key = dispatch::key_of(all.front().trial.call.op(), all.front().trial.call.problem(), device),
      .library = std::string(version()),
      .versions = dispatch::versions_here(),
      .native_microseconds = *best,
      .native_error = relative(expected.front().native),
      .native_name = candidates[static_cast<std::size_t>(best - times.begin())].name};
  auto time = natives_end;
  for (const auto& [variant, trial] : all) {
    const double microseconds = trial.failure.empty() ? *time++ : 0;
    record.variants.push_back({variant, microseconds, relative(trial.accuracy.ours), trial.failure});
  }
  return record;
}

void add_to_file(const std::string& path, autotune::Record record) {
  autotune::Records records;
  if (std::filesystem::exists(path)) {
    const std::string problem = records.add_file(path);
    if (!problem.empty()) throw UserError::format("{}; nothing was written to it", problem);
  }
  records.add(std::move(record));
  records.write(path);
}

}  // namespace tessera::perf
