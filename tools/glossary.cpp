#include "tools/glossary.h"

#include <algorithm>
#include <fmt/format.h>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera::tools {
namespace {

bool waits(const Role& role) {
  return any_inst(role.body, [](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    return pass != nullptr && pass->step == SlotStep::wait;
  });
}

/// How many entries have the name.
template <typename Key>
auto count(const std::map<Key, std::string>& names, const std::string& name) {
  return std::count_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
}

}  // namespace

Glossary::Glossary(const Program& program) {
  name_roles(roles_of(program));
  name_channels(program);
}

void Glossary::name_roles(const std::vector<Role>& roles) {
  for (const Role& role : roles) roles_[&role] = waits(role) ? "consumer" : "producer";
  const std::map<const Role*, std::string> kinds = roles_;
  int number = 0;
  for (const Role& role : roles) {
    if (count(kinds, kinds.at(&role)) > 1) roles_[&role] += fmt::format(" of role {}", number);
    ++number;
  }
}

void Glossary::name_channels(const Program& program) {
  for_each_inst(program.body, [&](const Inst& inst) {
    if (const auto* channel = std::get_if<Channel>(&inst.op))
      roots_[inst.result()] = channel->with == ValueId::none ? inst.result() : roots_.at(channel->with);
    if (const auto* copy = std::get_if<CopyIn>(&inst.op))
      channels_.try_emplace(copy->to.channel, program.tensor(copy->load.tensor).name);
    if (const auto* copy = std::get_if<CopyOut>(&inst.op))
      channels_.try_emplace(copy->from.channel, program.tensor(copy->tensor).name);
    const auto* write = std::get_if<WriteShared>(&inst.op);
    if (write != nullptr && program.launch.counter && program.type(write->value).axes.empty())
      channels_.try_emplace(write->to.channel, "next tile");
  });
  const std::map<ValueId, std::string> tensors = channels_;
  for (const auto& [id, root] : roots_) {
    const auto tensor = tensors.find(id);
    if (tensor == tensors.end()) {
      channels_[id] = name_of(program, id);
    } else if (count(tensors, tensor->second) > 1) {
      channels_[id] += " " + name_of(program, id);
    }
  }
}

std::string Glossary::instance(const Role* of, int number) const {
  if (of == nullptr) return "the block";
  return of->instances > 1 ? fmt::format("{} {}", role(*of), number) : role(*of);
}

}  // namespace tessera::tools
