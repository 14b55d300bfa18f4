#include "tools/demo/kernels.h"

#include <cstdio>
#include <fmt/format.h>
#include <set>

#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/sass.h"
#include "tools/landmarks.h"

namespace tessera::demo {
namespace {

/// The kernel of a call under policy tile, compiled or taken from the cache.
Kernel& kernel_of(const Call& call, const autotune::Device& device) {
  const ops::Problem problem = call.problem();
  const autotune::Plan plan = dispatch::plan_of(call.op(), problem, device, Policy::tile);
  if (!plan.tile)
    throw UserError::format("no tile kernel supports {} on {}: {}", to_text(call), device.name,
                            plan.unsupported);
  Kernel& kernel = *dispatch::lowered(call.op(), problem.facts, *plan.tile, device.target).kernel;
  if (kernel.request(JitMode::block) != Kernel::State::ready) throw UserError(kernel.failure());
  return kernel;
}

void print_plan(const RecordedCall& recorded, const autotune::Device& device, Policy policy) {
  const Call& call = recorded.call;
  const autotune::Plan plan = dispatch::plan_of(call.op(), call.problem(), device, policy);
  fmt::print("    {:>3} x {:<60} {}, from {}\n", recorded.count, to_text(call),
             plan.tile ? autotune::to_text(*plan.tile) : "native", name_of(plan.source));
}

void print_kernel(Kernel& kernel) {
  const Cubin& cubin = kernel.cubin();
  std::string text;
  try {
    text = tools::landmarks(sass(cubin));
  } catch (const UserError&) {
    text = "no SASS: pip install nvidia-cuda-nvdisasm";
  }
  for (const std::string& complaint : cubin.complaints()) text += "; " + complaint;
  fmt::print("          {:<7} {:>3} registers, {:>6} bytes shared, {}\n", cubin.arch, cubin.registers,
             kernel.text().shared_bytes, text);
  std::fflush(stdout);  // the next one may take a while
}

}  // namespace

void print_plans(const std::vector<RecordedCall>& calls, const autotune::Device& device, Policy policy) {
  for (const RecordedCall& recorded : calls) print_plan(recorded, device, policy);
}

void print_kernels(const std::vector<RecordedCall>& calls, const std::vector<std::string>& archs) {
  std::set<const Kernel*> printed;
  for (const RecordedCall& recorded : calls) {
    print_plan(recorded, autotune::device_named("H200"), Policy::tile);
    for (const std::string& arch : archs) {
      Kernel& kernel = kernel_of(recorded.call, autotune::device_named(arch));
      if (printed.insert(&kernel).second) print_kernel(kernel);
    }
  }
}

}  // namespace tessera::demo
