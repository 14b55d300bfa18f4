#include "perf/bench.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAFunctions.h>
#include <chrono>
#include <fmt/chrono.h>
#include <torch/version.h>

#include "perf/inputs.h"
#include "perf/matmul_precision.h"
#include "perf/natives.h"
#include "perf/problem.h"
#include "registration/dispatch/planner.h"
#include "tessera/explain.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"
#include "tile_core/runtime/driver.h"

namespace tessera::perf {
namespace {

Work work_of(const CallSpec& spec, const std::vector<at::Tensor>& inputs) {
  const Call call = call_of(spec);
  return {.flops = spec.memory_bound() ? 0 : call.op().flops(call.problem()),
          .read_bytes = bytes_of(inputs),
          .write_bytes = bytes_of(run_tessera(spec, inputs))};
}

std::string plan_text(const CallSpec& spec) {
  const CallShape shape = shape_of(spec);
  const Explanation plan = explain(shape.op, shape.shapes, shape.options);
  return fmt::format("{}, from {}: {}", plan.plan, plan.source, plan.reason);
}

}  // namespace

void require_gpu(std::string_view what) {
  if (c10::cuda::device_count() > 0) return;
  const std::string problem = driver::problem();
  throw UserError::format(
      "{} needs an NVIDIA GPU, and this process sees none: {}\nWithout one, `tessera show OP SHAPES` "
      "compiles "
      "kernels, and `tessera explain OP SHAPES --device H200` shows plans",
      what, problem.empty() ? "CUDA_VISIBLE_DEVICES hides it" : problem);
}

Bench::Bench(const Settings& settings, Report report)
    : timer_((require_gpu("measuring"), settings)), roof_(timer_), report_(std::move(report)) {}

void Bench::time(const std::vector<Arm>& arms, const std::vector<Candidate*>& places) {
  report_("cold");
  const std::vector<Summary> cold = timer_.cold(arms);
  report_("steady");
  const std::vector<Summary> steady = timer_.steady(arms);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    places[i]->cold = cold[i];
    places[i]->steady = steady[i];
  }
}

Row Bench::measure_once(const CallSpec& spec, const Accuracy& accuracy) {
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  Row row{.spec = spec,
          .plan = plan_text(spec),
          .accuracy = accuracy,
          .work = work_of(spec, inputs),
          .ours = {"tessera", {}, {}}};
  std::vector<Native> candidates = natives(spec, inputs, row.left_out);
  candidates = worth_measuring(std::move(candidates), timer_, row.left_out);
  std::vector<Arm> arms = {tessera_call(spec, inputs)};
  for (const Native& native : candidates) {
    arms.emplace_back(native.run);
    row.natives.push_back({native.name, {}, {}});
  }
  std::vector<Candidate*> places = {&row.ours};
  for (Candidate& native : row.natives) places.push_back(&native);
  time(arms, places);
  report_("roof");
  row.roof_microseconds = roof_.microseconds(row.work, spec.dtype, spec.tf32);
  return row;
}

Row Bench::measure(const CallSpec& spec) {
  const at::NoGradGuard no_grad;
  const MatmulPrecision precision(spec);
  report_("checking the result");
  const Accuracy accuracy = measure_accuracy(spec, "cuda");
  if (!accuracy.holds())
    throw UserError::format("{}: the result is wrong: {}", to_text(spec), accuracy.text());
  Row row = measure_once(spec, accuracy);
  if (row.judged() >= 1) return row;
  row = measure_once(spec, accuracy);
  row.repeated = true;
  return row;
}

nlohmann::json Bench::surroundings() const {
  const driver::DeviceInfo& device = driver::device_info(c10::cuda::current_device());
  return {{"device", device.name},
          {"multiprocessors", device.multiprocessors},
          {"driver", driver::version_text(driver::version())},
          {"torch", TORCH_VERSION},
          {"tessera", version()},
          {"date", fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now())},
          {"rounds", timer_.settings().rounds},
          {"roofs", roof_.measured()}};
}

}  // namespace tessera::perf
