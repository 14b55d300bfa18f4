#include "tile_core/passes/channels.h"

#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/ir/channel.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

constexpr int kPadBytes = 16;  // keeps rows aligned and spreads them over the banks

}  // namespace

bool crosses_warps(const Program& program, const Reduce& reduce) {
  return program.type(reduce.a).layout.count(Place::warp, reduce.axis) > 1;
}

Channels::Channels(const Program& program, const PassContext& context)
    : p_(program), context_(context), uses_(program), path_(dot_path_of(program, context)) {
  visit(program.body);
}

void Channels::visit(const Block& block) {
  for (const Inst& inst : block.insts) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      plan_rings(*loop);
      visit(loop->body);
    }
  }
  for (const Inst& inst : block.insts) {
    if (inst.results.empty() || places_.contains(inst.result())) continue;
    bool shared = p_.type(inst.result()).space == Space::shared;
    if (std::holds_alternative<Load>(inst.op) && shared) plan_load(inst.result());
    if (std::holds_alternative<Convert>(inst.op) || std::holds_alternative<Reduce>(inst.op))
      plan_detour(inst);
  }
}

std::size_t Channels::add(Type type, std::vector<AxisId> order) {
  const int last = p_.axis(order.back()).extent;
  // Warps read their matrices from shared memory without conflicts where it is swizzled.
  const bool matrices = type.space == Space::shared && path_ == DotPath::mma;
  type.layout = {};
  type.space = Space::anywhere;
  type.slots = std::max(type.slots, 1);
  Plan plan{.type = type, .order = order};
  if (matrices) {
    plan.swizzle = swizzle_of(p_, type.dtype, order.back());
  } else {
    plan.pitch = order.size() == 1 ? last : last + kPadBytes / size_of(type.dtype);
  }
  plans_.push_back(std::move(plan));
  return plans_.size() - 1;
}

void Channels::plan_load(ValueId id) {
  const Load& load = std::get<Load>(uses_.definer(id).op);
  std::vector<AxisId> order = p_.type(id).axes;
  Access access = widest_access(p_, context_.facts, context_.schedule, load.tensor, load.subscripts);
  if (access.axis != AxisId::none) {
    std::erase(order, access.axis);
    order.push_back(access.axis);
  }
  places_[id] = {add(p_.type(id), std::move(order))};
}

void Channels::plan_rings(const Loop& loop) {
  auto parameter_index = [&](ValueId id) {
    auto it = std::find(loop.parameters.begin(), loop.parameters.end(), id);
    return static_cast<std::size_t>(it - loop.parameters.begin());
  };
  for (std::size_t head = 0; head < loop.parameters.size(); ++head) {
    ValueId first = loop.parameters[head];
    if (p_.type(first).space != Space::shared) continue;
    if (std::count(loop.body.yields.begin(), loop.body.yields.end(), first) > 0)
      continue;  // not the oldest of its ring
    std::vector<std::size_t> chain = {head};
    while (parameter_index(loop.body.yields[chain.back()]) < loop.parameters.size()) {
      chain.push_back(parameter_index(loop.body.yields[chain.back()]));
    }
    ValueId ahead = loop.body.yields[chain.back()];
    plan_load(ahead);
    std::size_t plan = places_.at(ahead).plan;
    plans_[plan].type.slots = static_cast<int>(chain.size()) + 1;
    places_[ahead] = {plan, loop.axis, static_cast<int>(chain.size())};
    for (std::size_t i = 0; i < chain.size(); ++i) {
      places_[loop.parameters[chain[i]]] = {plan, loop.axis, static_cast<int>(i)};
      places_[loop.carried[chain[i]]] = {plan, AxisId::none, static_cast<int>(i)};
    }
  }
}

void Channels::plan_detour(const Inst& inst) {
  if (const Reduce* reduce = std::get_if<Reduce>(&inst.op)) {
    if (!crosses_warps(p_, *reduce)) return;
    warp_counts_[inst.result()] = p_.type(reduce->a).layout.count(Place::warp, reduce->axis);
    places_[inst.result()] = {plans_.size()};
    plans_.push_back({p_.type(inst.result())});  // completed when the axis of warps exists
    return;
  }
  std::vector<AxisId> order = p_.type(inst.result()).axes;
  for (const Inst* user : uses_.users(inst.result())) {
    const Dot* dot = std::get_if<Dot>(&user->op);  // reads along the axis that it contracts
    if (dot == nullptr || dot->accumulator == inst.result()) continue;
    std::erase(order, dot->axis);
    order.push_back(dot->axis);
  }
  places_[inst.result()] = {add(p_.type(inst.result()), std::move(order))};
}

std::int64_t Channels::bytes() const {
  std::int64_t total = 0;
  for (const Plan& plan : plans_) {
    if (plan.order.empty()) continue;  // of warps, which have no axis yet
    total += slot_bytes(p_, plan.type, channel_of(plan)) * plan.type.slots;
  }
  for (auto [result, warps] : warp_counts_) total += slot_bytes(p_, p_.type(result), {.pitch = warps});
  return total;
}

bool Channels::has_ring(const Loop& loop) const {
  return std::any_of(loop.parameters.begin(), loop.parameters.end(),
                     [&](ValueId id) { return p_.type(id).space == Space::shared; });
}

void Channels::declare(Rewriter& r) {
  for (auto [result, count] : warp_counts_) {
    std::string name = warp_axes_.empty() ? "warps" : fmt::format("warps{}", warp_axes_.size() + 1);
    AxisId axis = r.out().new_axis({.name = name, .kind = AxisKind::warps, .extent = count});
    warp_axes_[result] = axis;
    Plan& plan = plans_[places_.at(result).plan];
    plan.order = plan.type.axes;
    plan.order.push_back(axis);
    plan.type = {.dtype = plan.type.dtype, .axes = plan.order, .slots = 1};
    plan.pitch = count;
  }
  for (Plan& plan : plans_) plan.channel = r.emit(channel_of(plan), plan.type, {});
}

Slot Channels::slot(ValueId old) const {
  auto it = places_.find(old);
  if (it == places_.end())
    throw InternalError::format("lower_tiles: value {} of {} has no slot", index_of(old), p_.name);
  const Home& place = it->second;
  ValueId ticket = place.ring == AxisId::none ? ValueId::none : tickets_.at(place.ring);
  return {plans_[place.plan].channel, ticket, place.offset};
}

}  // namespace tessera
