#include <set>

#include "tile_core/ir/apart.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// What a store or a copy out does to its tensor.
struct Write {
  TensorId tensor{};
  const std::vector<Subscript>& subscripts;
  bool accumulate = false;
};

template <typename Visit>
void visit_write(const Inst& inst, Visit&& visit) {
  if (const auto* o = std::get_if<Store>(&inst.op)) visit(Write{o->tensor, o->subscripts, o->accumulate});
  if (const auto* o = std::get_if<CopyOut>(&inst.op)) visit(Write{o->tensor, o->subscripts, o->accumulate});
}

bool adds(const Inst& inst) {
  bool found = false;
  visit_write(inst, [&](const Write& write) { found = write.accumulate; });
  return found;
}

/// Of several that run a block side by side: what they add, they add in different places, in different
/// iterations, or one of them alone does. A tile that is stored may be stored by all.
class OneAdds {
 public:
  OneAdds(const Program& program, const Varying& varying, Several who, std::string name)
      : p_(program), apart_(program, varying, who), name_(std::move(name)) {}

  void block(const Block& b) const {
    for (const Inst& inst : b.insts) {
      visit_write(inst, [&](const Write& write) { places_differ(inst, write); });
      if (const If* branch = std::get_if<If>(&inst.op)) {
        if (!apart_.go_alone(branch->condition, true)) block(branch->then);
        if (!apart_.go_alone(branch->condition, false)) block(branch->otherwise);
      } else if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
        if (!apart_.iterate(*loop)) block(loop->body);
      }
    }
  }

 private:
  void places_differ(const Inst& inst, const Write& write) const {
    if (!write.accumulate) return;
    for (const Subscript& s : write.subscripts) {
      if (s.value != ValueId::none && apart_.have(s.value)) return;
    }
    fail_verify(p_, inst, fmt::format("{} add the same to {}", name_, p_.tensor(write.tensor).name));
  }

  const Program& p_;
  Apart apart_;
  std::string name_;
};

void adds_or_stores(const Program& program) {
  std::set<TensorId> stored;
  for_each_inst(program.body, [&](const Inst& inst) {
    visit_write(inst, [&](const Write& write) {
      if (!write.accumulate) stored.insert(write.tensor);
    });
  });
  for_each_inst(program.body, [&](const Inst& inst) {
    visit_write(inst, [&](const Write& write) {
      if (write.accumulate && stored.contains(write.tensor))
        fail_verify(program, inst, program.tensor(write.tensor).name + " is also stored to");
    });
  });
}

/// The last blocks of clusters may stand beyond the grid, where a place that they tell apart is outside.
void blocks_add_once(const Program& program) {
  if (program.launch.cluster.alone() || program.stage < Stage::mapped) return;
  const Varying varying = varying_in_cluster(program);
  const OneAdds blocks(program, varying, {.count = program.launch.cluster.blocks}, "blocks of a cluster");
  blocks.block(program.body);
  for (const Role& role : roles_of(program)) blocks.block(role.body);
}

void instances_add_once(const Program& program) {
  for (const Role& role : roles_of(program)) {
    if (role.instances == 1) continue;
    const Varying varying = varying_in(role);
    OneAdds(program, varying, {role.instances, role.instance},
            fmt::format("all {} instances of a role", role.instances))
        .block(role.body);
  }
}

}  // namespace

void verify_accumulation(const Program& program) {
  if (!any_inst(program.body, adds)) return;
  adds_or_stores(program);
  blocks_add_once(program);
  if (program.stage >= Stage::roled) instances_add_once(program);
}

}  // namespace tessera
