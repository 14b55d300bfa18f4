#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAStream.h>
#include <filesystem>
#include <limits>

#include "perf/bench.h"
#include "perf/inputs.h"
#include "perf/natives.h"
#include "perf/problem.h"
#include "perf/reference.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"
#include "tile_core/runtime/launch.h"

// Every variant of a call, launched past the dispatch.
namespace tessera::perf {
namespace {

/// One variant with outputs of its own.
struct Launch {
  Call call;
  autotune::Variant variant;
  Kernel* kernel = nullptr;         ///< none where the variant is not legal
  std::vector<at::Tensor> outputs;  ///< of the shapes of the program's tensors
  std::string failure;              ///< why it may not be used
  double error = 0;                 ///< largest one over the reference's largest magnitude

  void operator()() const {
    launch(*kernel, call.tensors(), call.scalars(), c10::cuda::current_device(),
           c10::cuda::getCurrentCUDAStream().stream());
  }
};

std::string compile(Launch& launch, const Target& target) {
  const dispatch::Lowered& lowered =
      dispatch::lowered(launch.call.op(), launch.call.problem().facts, launch.variant, target);
  if (lowered.kernel == nullptr) return lowered.problem;
  launch.kernel = lowered.kernel;
  if (launch.kernel->request(JitMode::block) != Kernel::State::ready) return launch.kernel->failure();
  const std::vector<std::string> complaints = launch.kernel->cubin().complaints();
  return complaints.empty() ? "" : complaints.front();
}

void allocate_outputs(Launch& launch) {
  const Program program = launch.call.op().program(launch.call.problem().facts, launch.variant.tiles);
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    if (!program.tensors[i].output) continue;
    const TensorView& view = launch.call.tensors()[i];
    const auto rank = static_cast<std::size_t>(view.rank);
    const auto options = at::TensorOptions().dtype(scalar_type(view.dtype)).device(at::kCUDA);
    launch.outputs.push_back(
        at::empty_strided({view.sizes.data(), rank}, {view.strides.data(), rank}, options));
    launch.outputs.back().fill_(std::numeric_limits<double>::quiet_NaN());  // what is not written shows
    launch.call.bind(i, launch.outputs.back().data_ptr());
  }
}

double relative(const Error& error) {
  return error.magnitude > 0 ? error.maximum / error.magnitude : error.maximum;
}

/// What a tuned call should give, and how near ATen comes.
struct Expected {
  at::Tensor reference;
  Error native;
  DType dtype;
};

/// The variant, compiled and run once, or with the reason why it may not be used.
Launch try_variant(const Call& call, const autotune::Variant& variant, const Target& target,
                   const Expected& expected) {
  Launch launch{.call = call, .variant = variant};
  launch.failure = compile(launch, target);
  if (!launch.failure.empty()) return launch;
  allocate_outputs(launch);
  launch();
  const at::Tensor& result = launch.outputs.front();
  const Accuracy accuracy{error_of(result, expected.reference.reshape(result.sizes())), expected.native,
                          expected.dtype};
  launch.error = relative(accuracy.ours);
  if (!accuracy.holds()) launch.failure = "wrong result: " + accuracy.text();
  return launch;
}

Expected expected_of(const CallSpec& spec, const std::vector<at::Tensor>& inputs) {
  Expected expected{reference(spec, inputs).front(), {}, spec.dtype};
  expected.native = error_of(run_native(spec, inputs).front(), expected.reference);
  return expected;
}

/// Every variant of the operator's space on these inputs, run once.
std::vector<Launch> try_space(const CallSpec& spec, const std::vector<at::Tensor>& inputs,
                              const Expected& expected, const Target& target, const Report& report) {
  Call call = call_of(spec);
  for (std::size_t i = 0; i < inputs.size(); ++i) call.bind(i, inputs[i].data_ptr());
  std::vector<Launch> launches;
  for (const ops::Variant& variant : call.op().space(call.problem(), target)) {
    report("compiling " + autotune::to_text(dispatch::variant_of(variant)));
    launches.push_back(try_variant(call, dispatch::variant_of(variant), target, expected));
  }
  return launches;
}

}  // namespace

std::vector<Checked> Bench::check(const CallSpec& spec) {
  const at::NoGradGuard no_grad;
  const autotune::Device device = dispatch::device_of(c10::cuda::current_device());
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  std::vector<Checked> checked;
  for (const Launch& launch : try_space(spec, inputs, expected_of(spec, inputs), device.target, report_))
    checked.push_back({launch.variant, launch.kernel != nullptr, launch.failure});
  return checked;
}

autotune::Record Bench::tune(const CallSpec& spec) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  const autotune::Device device = dispatch::device_of(c10::cuda::current_device());
  const Expected expected = expected_of(spec, inputs);
  const std::vector<Launch> launches = try_space(spec, inputs, expected, device.target, report_);
  std::vector<std::string> left_out;
  const std::vector<Native> candidates = natives(spec, inputs, left_out);
  std::vector<Arm> arms;
  for (const Native& native : candidates) arms.emplace_back(native.run);
  for (const Launch& launch : launches) {
    if (launch.failure.empty()) arms.emplace_back([&launch] { launch(); });
  }
  report_("measuring");
  const std::vector<Summary> times = spec.memory_bound() ? timer_.cold(arms) : timer_.steady(arms);

  const auto natives_end = times.begin() + static_cast<std::ptrdiff_t>(candidates.size());
  const auto best = std::min_element(times.begin(), natives_end,
                                     [](const Summary& a, const Summary& b) { return a.median < b.median; });
  autotune::Record record{
      .key = dispatch::key_of(launches.front().call.op(), launches.front().call.problem(), device),
      .library = std::string(version()),
      .versions = dispatch::versions_here(),
      .native_microseconds = best->median,
      .native_error = relative(expected.native),
      .native_name = candidates[static_cast<std::size_t>(best - times.begin())].name};
  auto time = natives_end;
  for (const Launch& launch : launches) {
    const double microseconds = launch.failure.empty() ? (time++)->median : 0;
    record.variants.push_back({launch.variant, microseconds, launch.error, launch.failure});
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
