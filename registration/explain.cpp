#include "tessera/explain.h"

#include <fmt/format.h>

#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/policy.h"

namespace tessera {
namespace {

Explanation on_the_cpu(const Call& call) {
  const bool interprets = policy() == Policy::tile;
  Explanation e{.call = std::string(call.name()) + " on the CPU", .native = !interprets};
  e.plan = interprets ? "the interpreter" : "native";
  e.source = "the policy";
  e.reason =
      interprets ? "the policy is tile, and there is no GPU" : "the CPU runs ATen unless the policy is tile";
  e.candidates = {{e.plan, {}, "chosen"}};
  return e;
}

/// No tile kernel can run the call.
Explanation unsupported(const Call& call, const std::string& why) {
  const bool fails = policy() == Policy::tile;
  Explanation e{.call = std::string(call.name()), .native = !fails};
  e.plan = fails ? "none: the call throws" : "native";
  e.source = "the compiler";
  e.reason = "no tile kernel supports " + why;
  e.candidates = {{"native", {}, fails ? "the policy is tile" : "chosen"}};
  return e;
}

}  // namespace

std::string Explanation::text() const {
  std::string lines = fmt::format("{}\n  plan: {}, from {}: {}\n", call, plan, source, reason);
  for (const Candidate& c : candidates) {
    const std::string time = c.microseconds ? fmt::format("{:.2f} us", *c.microseconds) : "not measured";
    lines += fmt::format("  {:<44} {:>14}  {}\n", c.name, time, c.verdict);
  }
  return lines;
}

Explanation explain(std::string_view op, const std::vector<std::vector<int64_t>>& shapes,
                    const CallOptions& options, std::string_view device) {
  const Call call = dispatch::call_of({std::string(op), shapes, options});
  const std::optional<autotune::Device> on = dispatch::device_of(device);
  if (!call.unsupported().empty()) return unsupported(call, call.unsupported());
  if (!on.has_value()) return on_the_cpu(call);
  const ops::Problem problem = call.problem();
  const autotune::Plan plan = dispatch::plan_of(call.op(), problem, *on, policy());
  if (!plan.unsupported.empty()) return unsupported(call, plan.unsupported);
  Explanation e{.call = autotune::to_text(dispatch::key_of(call.op(), problem, *on)),
                .native = !plan.tile.has_value()};
  e.plan = plan.tile ? autotune::to_text(*plan.tile) : "native";
  e.source = autotune::name_of(plan.source);
  e.reason = plan.reason;
  for (const autotune::Candidate& c : plan.candidates)
    e.candidates.push_back({c.name, c.microseconds, c.verdict});
  return e;
}

}  // namespace tessera
