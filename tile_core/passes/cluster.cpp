#include "tile_core/passes/cluster.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <tuple>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/work_of.h"

namespace tessera {
namespace {

/// What blocks that are neighbours along an axis could share.
struct Neighbours {
  AxisId axis = AxisId::none;
  std::int64_t bytes = 0;  // of one iteration of every loop
  std::string why_not;     // empty: they can
};

class ClusterChoice {
 public:
  ClusterChoice(const Program& program, const PassContext& context)
      : p_(program), context_(context), trends_(program), uses_(program) {
    for_each_inst(p_.body, [this](const Inst& inst) {
      const Loop* loop = std::get_if<Loop>(&inst.op);
      if (loop != nullptr) loops_.push_back(loop);
    });
  }

  std::vector<Neighbours> all() const {
    std::vector<Neighbours> result;
    for (AxisId axis : p_.grid) result.push_back(along(axis));
    return result;
  }

 private:
  Neighbours along(AxisId axis) const {
    Neighbours n{.axis = axis};
    if (adds_anywhere(axis)) {
      n.why_not = "a tile beyond the last would be added to an output that is not indexed with it";
      return n;
    }
    bool same = false;
    for (const Loop* loop : loops_) {
      if (trends_.of(*loop).axes.contains(axis)) {
        n.why_not = "loops run longer for some tiles than for others";
        return n;
      }
      for (const Inst& inst : loop->body.insts) {
        if (!feeds_a_dot(inst) || trends_.of(inst.result()).axes.contains(axis)) continue;
        same = true;
        const Type& type = p_.type(inst.result());
        if (cut_axis(p_, context_, std::get<Load>(inst.op), context_.schedule.cluster) != AxisId::none)
          n.bytes += elements(p_, type) * size_of(type.dtype);
      }
    }
    if (!same) n.why_not = "no two tiles stream the same to a dot";
    if (same && n.bytes == 0) {
      n.why_not = fmt::format("the boxes that are the same do not divide into {} parts of whole {} rows",
                              context_.schedule.cluster, kPatternRows);
    }
    return n;
  }

  /// Whether tiles are added to places that an axis does not put outside of the tensor beyond its end, where
  /// a cluster's last may be.
  bool adds_anywhere(AxisId axis) const {
    return any_inst(p_.body, [&](const Inst& inst) {
      const Store* store = std::get_if<Store>(&inst.op);
      if (store == nullptr || !store->accumulate) return false;
      for (std::size_t i = 0; i < store->subscripts.size(); ++i) {
        const Subscript& s = store->subscripts[i];
        const Start* start =
            s.axis == AxisId::none ? std::get_if<Start>(&uses_.definer(s.value).op) : nullptr;
        const bool is_axis = s.axis == axis || (start != nullptr && start->axis == axis);
        if (is_axis && p_.tensor(store->tensor).dims[i] == p_.axis(axis).dim) return false;
      }
      return true;
    });
  }

  bool feeds_a_dot(const Inst& inst) const {
    if (!std::holds_alternative<Load>(inst.op)) return false;
    const auto& users = uses_.users(inst.result());
    return std::any_of(users.begin(), users.end(),
                       [](const Inst* user) { return std::holds_alternative<Dot>(user->op); });
  }

  const Program& p_;
  const PassContext& context_;
  Trends trends_;
  Uses uses_;
  std::vector<const Loop*> loops_;
};

bool asks_for_one(const PassContext& context) {
  return context.schedule.cluster > 1;
}

}  // namespace

AxisId cut_axis(const Program& program, const PassContext& context, const Load& load, int blocks) {
  const int contiguous = context.facts.tensors.at(index_of(load.tensor)).contiguous_dim;
  for (std::size_t dim = 0; dim < load.subscripts.size(); ++dim) {
    const AxisId axis = load.subscripts[dim].axis;
    if (axis == AxisId::none || static_cast<int>(dim) == contiguous) continue;
    return program.axis(axis).extent % (kPatternRows * blocks) == 0 ? axis : AxisId::none;
  }
  return AxisId::none;
}

Cluster cluster_of(const Program& program, const PassContext& context) {
  if (!asks_for_one(context)) return {};
  const std::vector<Neighbours> all = ClusterChoice(program, context).all();
  // An axis of short tiles, as of one batch each, may well have one tile alone.
  auto worth = [&](const Neighbours& n) {
    return std::tuple(n.why_not.empty(), n.bytes, program.axis(n.axis).extent);
  };
  const auto most = std::max_element(
      all.begin(), all.end(), [&](const Neighbours& a, const Neighbours& b) { return worth(a) < worth(b); });
  if (most == all.end() || !most->why_not.empty()) return {};
  return {most->axis, context.schedule.cluster};
}

std::string why_no_cluster(const Program& program, const PassContext& context) {
  if (!asks_for_one(context)) return "";
  std::vector<std::string> reasons;
  for (const Neighbours& n : ClusterChoice(program, context).all()) {
    if (n.why_not.empty()) return "";
    reasons.push_back(fmt::format("along '{}' {}", program.axis(n.axis).name, n.why_not));
  }
  return reasons.empty() ? "the program has no grid" : fmt::format("{}", fmt::join(reasons, ", "));
}

}  // namespace tessera
