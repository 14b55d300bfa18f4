#include "tools/demo/report.h"

#include <fmt/format.h>

#include "perf/measure.h"
#include "registration/dispatch/planner.h"
#include "tessera/policy.h"
#include "tools/demo/gpu_time.h"
#include "tools/demo/kernels.h"

namespace tessera::demo {
namespace {

constexpr double kLeastShare = 0.9;  // of the operators' calls, under policy tile

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

/// Time and share under the policy in force; the share of calls.
double print_time(const Sides& sides) {
  perf::Timer timer;
  const std::vector<perf::Summary> times = timer.steady({[&] { sides.native(); }, [&] { sides.tessera(); }});
  const KernelShare share = profile([&] { sides.tessera(); });
  fmt::print(
      "    native {:.1f} us, tessera {:.1f} us: {:.2f} x; generated kernels: {} of the operators' calls, {} "
      "of the "
      "time\n",
      times[0].median, times[1].median, times[0].median / times[1].median, percent(share.of_calls()),
      percent(share.of_time()));
  return share.of_calls();
}

}  // namespace

bool print_gpu(const Sides& sides, const std::vector<RecordedCall>& calls) {
  const autotune::Device device = dispatch::device_of(0);
  for (const auto& [policy, name] : {std::pair(Policy::automatic, "auto"), std::pair(Policy::tile, "tile")}) {
    set_policy(policy);
    fmt::print("  policy {}\n", name);
    print_plans(calls, device, policy);
    const double share = print_time(sides);
    set_policy({});
    if (policy != Policy::tile || share >= kLeastShare) continue;
    fmt::print("  FAILED: under policy tile at least {} of the calls must run generated kernels\n",
               percent(kLeastShare));
    return false;
  }
  return true;
}

}  // namespace tessera::demo
