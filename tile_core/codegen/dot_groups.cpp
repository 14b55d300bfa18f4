#include "tile_core/codegen/dot_groups.h"

#include <algorithm>
#include <utility>

#include "tile_core/ir/operands.h"

namespace tessera::codegen {

DotGroups::DotGroups(const Program& program) {
  find_places(program.body, {});
  find_fenced(program.body);
  fly(program.body, {});
  find_homes();
}

std::vector<ValueId> DotGroups::retired(const Inst& wait) const {
  auto it = retired_.find(&wait);
  if (it == retired_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

std::vector<ValueId> DotGroups::outlive(const Inst& inst) const {
  auto it = outlive_.find(&inst);
  return it == outlive_.end() ? std::vector<ValueId>() : it->second;
}

void DotGroups::find_places(const Block& block, const Path& outside) {
  for (std::size_t i = 0; i < block.insts.size(); ++i) {
    const Inst& inst = block.insts[i];
    Path place = outside;
    place.push_back({&block, i, &inst});
    places_[&inst] = place;
    for_each_definition(inst, [&](ValueId id) { homes_[id] = place; });
    for_each_block(inst.op, [&](const Block& inner) { find_places(inner, place); });
  }
}

void DotGroups::find_fenced(const Block& block) {
  const Inst* fence = nullptr;
  for_each_inst(block, [&](const Inst& inst) {
    if (std::holds_alternative<FenceDots>(inst.op)) fenced_[fence = &inst];
    if (std::holds_alternative<CommitDots>(inst.op)) fence = nullptr;
    const IssueDot* dot = std::get_if<IssueDot>(&inst.op);
    if (dot != nullptr && fence != nullptr) fenced_[fence].push_back(dot);
  });
}

DotGroups::Flight DotGroups::fly(const Block& block, Flight flight) {
  for (const Inst& inst : block.insts) flight = fly(inst, std::move(flight));
  return flight;
}

DotGroups::Flight DotGroups::fly(const Inst& inst, Flight flight) {
  if (const IssueDot* dot = std::get_if<IssueDot>(&inst.op)) {
    if (dot->a.value != ValueId::none) flight.open.insert(dot->a.value);
  } else if (std::holds_alternative<CommitDots>(inst.op)) {
    flight.groups.push_back(std::exchange(flight.open, {}));
  } else if (const WaitDots* wait = std::get_if<WaitDots>(&inst.op)) {
    auto pending = std::min(flight.groups.size(), static_cast<std::size_t>(wait->pending));
    auto first = flight.groups.end() - static_cast<std::ptrdiff_t>(pending);
    for (auto group = flight.groups.begin(); group != first; ++group)
      retired_[&inst].insert(group->begin(), group->end());
    flight.groups.erase(flight.groups.begin(), first);
  } else if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
    for (int round = 0; round < 2; ++round) flight = merged(flight, fly(loop->body, flight));
  } else if (const If* branch = std::get_if<If>(&inst.op)) {
    flight = merged(fly(branch->then, flight), fly(branch->otherwise, flight));
  } else if (const Roles* roles = std::get_if<Roles>(&inst.op)) {
    for (const Role& role : roles->roles) fly(role.body, {});
  }
  return flight;
}

/// What either way leaves in flight; the newest groups of both are the same.
DotGroups::Flight DotGroups::merged(Flight a, const Flight& b) {
  if (a.groups.size() < b.groups.size())
    a.groups.insert(a.groups.begin(), b.groups.size() - a.groups.size(), {});
  for (std::size_t i = 1; i <= b.groups.size(); ++i) {
    const Values& more = b.groups[b.groups.size() - i];
    a.groups[a.groups.size() - i].insert(more.begin(), more.end());
  }
  a.open.insert(b.open.begin(), b.open.end());
  return a;
}

/// A tile stands in the innermost block whose end comes after all waits that cover its dots.
void DotGroups::find_homes() {
  std::map<ValueId, std::vector<Path>> waits;
  for (const auto& [wait, values] : retired_) {
    for (ValueId id : values) waits[id].push_back(places_.at(wait));
  }
  for (const auto& [id, places] : waits) {
    Path home = homes_.at(id);
    auto reaches = [&](const Path& wait) {
      std::size_t depth = home.size() - 1;
      return wait.size() > depth && std::equal(home.begin(), home.end() - 1, wait.begin()) &&
             home.back().block == wait[depth].block && home.back().number <= wait[depth].number;
    };
    bool inside = true;
    while (!std::all_of(places.begin(), places.end(), reaches)) home.pop_back(), inside = false;
    if (!inside) outlive_[home.back().inst].push_back(id);
  }
}

}  // namespace tessera::codegen
