#include "perf/device_programs.h"

#include <ATen/core/grad_mode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <sstream>

#include "perf/bench.h"
#include "perf/inputs.h"
#include "perf/natives.h"
#include "perf/trial.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/verify.h"
#include "tile_core/passes/passes.h"

namespace tessera::perf {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  std::ifstream file(path);
  if (!(text << file.rdbuf()))
    throw UserError::format("no device program can be read from {}; --texts names the folder", path);
  return text.str();
}

/// What of the operator's space has warpgroups.
std::vector<autotune::Variant> with_warpgroups(const Call& call, const Target& target) {
  std::vector<autotune::Variant> variants;
  for (const ops::Variant& variant : call.op().space(call.problem(), target)) {
    if (variant.schedule.groups != Schedule::kAutomatic) variants.push_back(dispatch::variant_of(variant));
  }
  return variants;
}

/// A row of one program, nothing measured yet.
DeviceRow row_of(const CallSpec& spec, const std::string& name, const Trial& by_hand,
                 const std::vector<at::Tensor>& inputs) {
  const Call& call = by_hand.call;
  return {.program = name,
          .row = {.spec = spec,
                  .plan = name + ", by hand",
                  .accuracy = by_hand.accuracy,
                  .work = {.flops = call.op().flops(call.problem()),
                           .read_bytes = bytes_of(inputs),
                           .write_bytes = bytes_of(by_hand.outputs)},
                  .ours = {"by hand", {}, {}}}};
}

}  // namespace

KernelText kernel_by_hand(const std::string& folder, const std::string& name, const Facts& facts,
                          const Target& target) {
  const std::string path = folder + "/" + name + ".txt";
  const std::string text = read(path);
  Program program = parse(text, "device program");
  if (program.stage != Stage::synced)
    throw UserError::format("{} is at stage {}; device programs by hand are at stage synced", path,
                            name_of(program.stage));
  verify(program);
  program = plan_shared_memory(program, {facts, {}, target});
  program.stage = Stage::ready;
  verify(program);
  return emit_cuda(program, facts, {});
}

DeviceRow Bench::measure_by_hand(const CallSpec& spec, const std::string& folder, const std::string& name) {
  const at::NoGradGuard no_grad;
  const Target target = dispatch::device_of(c10::cuda::current_device()).target;
  const std::vector<at::Tensor> inputs = make_inputs(spec, at::kCUDA);
  const Call call = bound_call(spec, inputs);
  const std::vector<Expected> expected = expected_of(spec, inputs);
  report_("compiling " + name);
  const KernelText text = kernel_by_hand(folder, name, call.problem().facts, target);
  const Trial by_hand = try_kernel(call, kernel_store::get(text, target), expected);
  if (!by_hand.failure.empty()) throw UserError::format("{} by hand: {}", name, by_hand.failure);

  DeviceRow result = row_of(spec, name, by_hand, inputs);
  std::vector<Trial> generated;
  for (const autotune::Variant& variant : with_warpgroups(call, target)) {
    const std::string what = autotune::to_text(variant);
    report_("compiling " + what);
    Trial trial = try_variant(call, variant, target, expected);
    if (trial.failure.empty()) {
      result.generated.push_back({what, {}, {}});
      generated.push_back(std::move(trial));
    } else {
      result.rejected.push_back(what + ": " + trial.failure);
    }
  }
  if (generated.empty()) throw UserError("no generated kernel of warpgroups may be used");

  std::vector<Native> candidates = natives(spec, inputs, result.row.left_out);
  candidates = worth_measuring(std::move(candidates), timer_, result.row.left_out);
  for (const Native& native : candidates) result.row.natives.push_back({native.name, {}, {}});
  std::vector<Arm> arms = {std::cref(by_hand)};
  std::vector<Candidate*> places = {&result.row.ours};
  for (std::size_t i = 0; i < generated.size(); ++i) {
    arms.emplace_back(std::cref(generated[i]));
    places.push_back(&result.generated[i]);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    arms.emplace_back(candidates[i].run);
    places.push_back(&result.row.natives[i]);
  }
  time(arms, places);
  result.row.repeated = result.row.judged() < 1;
  if (result.row.repeated) time(arms, places);
  report_("roof");
  result.row.roof_microseconds = roof_.microseconds(result.row.work, spec.dtype, spec.tf32);
  return result;
}

}  // namespace tessera::perf
