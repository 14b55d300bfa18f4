#include "tools/demo/kernels.h"

#include <cstdio>
#include <fmt/format.h>

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

std::string kernel_line(Kernel& kernel) {
  const Cubin& cubin = kernel.cubin();
  std::string text = fmt::format("      {:<8} {:>4} registers  {:>6} bytes shared", cubin.arch,
                                 cubin.registers, kernel.text().shared_bytes);
  for (const std::string& complaint : cubin.complaints()) text += fmt::format("  ({})", complaint);
  try {
    return text + "  " + tools::landmarks(sass(cubin)) + "\n";
  } catch (const UserError&) {
    return text + "  no SASS: pip install nvidia-cuda-nvdisasm\n";
  }
}

}  // namespace

std::string plan_table(const std::vector<RecordedCall>& calls, const autotune::Device& device,
                       Policy policy) {
  std::string text;
  for (const auto& [call, count] : calls) {
    const autotune::Plan plan = dispatch::plan_of(call.op(), call.problem(), device, policy);
    text += fmt::format("    {:>3} x {:<62} {}, from {}\n", count, to_text(call),
                        plan.tile ? autotune::to_text(*plan.tile) : "native", name_of(plan.source));
  }
  return text;
}

void print_kernels(const std::vector<RecordedCall>& calls, const std::vector<std::string>& archs) {
  std::vector<const Kernel*> printed;
  for (const RecordedCall& recorded : calls) {
    for (const std::string& arch : archs) {
      Kernel& kernel = kernel_of(recorded.call, autotune::device_named(arch));
      if (std::find(printed.begin(), printed.end(), &kernel) != printed.end()) continue;
      if (arch == archs.front()) fmt::print("    {}\n", kernel.text().name);
      fmt::print("{}", kernel_line(kernel));
      std::fflush(stdout);
      printed.push_back(&kernel);
    }
  }
}

}  // namespace tessera::demo
