#include "tile_core/ir/named_barriers.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"
#include "tile_core/ir/warpgroup_layout.h"

namespace tessera {
namespace {

constexpr int kLanes = 32;
constexpr int kMinRegisters = 24;  // of a thread, by setmaxnreg
constexpr int kMaxRegisters = 256;
constexpr int kRegisterStep = 8;
constexpr int kAllRegisters = 65536;  // of a multiprocessor

bool is_scalar(const Program& p, const Inst& inst) {
  return std::all_of(inst.results.begin(), inst.results.end(),
                     [&](ValueId id) { return p.type(id).axes.empty() && !p.type(id).is_channel(); });
}

class RoleRules {
 public:
  RoleRules(const Program& program, const Inst& inst, const Roles& roles)
      : p_(program), inst_(inst), roles_(roles) {}

  void run() const {
    int warps = 0, registers = 0, barriers = 1;  // the block's
    for (const Role& role : roles_.roles) {
      if (role.warps < 1 || role.instances < 1)
        fail(fmt::format("a role has {} instances of {} warps", role.instances, role.warps));
      registers_of(role, warps);
      warps += role.warps * role.instances;
      registers += role.warps * role.instances * kLanes * role.registers;
      for_each_inst(role.body, [&](const Inst& inst) { in_role(role, inst); });
      barriers += barriers_of(role).all();
    }
    if (barriers > kNamedBarriers)
      fail(fmt::format("the roles take {} barriers, a block has {}", barriers, kNamedBarriers));
    if (warps != p_.launch.warps)
      fail(fmt::format("the roles have {} warps, the block has {}", warps, p_.launch.warps));
    if (registers > kAllRegisters)
      fail(fmt::format("the roles have {} registers, a multiprocessor has {}", registers, kAllRegisters));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }

  /// A warpgroup changes its registers together.
  void registers_of(const Role& role, int first_warp) const {
    int r = role.registers;
    if (r == 0) return;
    if (r < kMinRegisters || r > kMaxRegisters || r % kRegisterStep != 0) {
      fail(fmt::format("a thread has {} registers, which is no multiple of {} from {} to {}", r,
                       kRegisterStep, kMinRegisters, kMaxRegisters));
    }
    if (first_warp % kWarpgroup != 0 || role.warps * role.instances % kWarpgroup != 0) {
      fail(fmt::format("a role with registers of its own has warps {} to {}, which are no warpgroups of {}",
                       first_warp, first_warp + role.warps * role.instances - 1, kWarpgroup));
    }
  }

  void in_role(const Role& role, const Inst& inst) const {
    if (role.elected && !one_thread_runs(inst))
      fail_verify(p_, inst, "an elected role runs scalars, passes slots and asks for bulk copies only");
    const WriteShared* write = std::get_if<WriteShared>(&inst.op);
    if (!role.elected && write != nullptr && p_.type(write->value).axes.empty())
      fail_verify(p_, inst, "a scalar is written by one thread, that of an elected role");
    if (holds_any<TakeTurn, PassTurn>(inst.op) && role.instances == 1)
      fail_verify(p_, inst, "a role of one instance has no turns to take");
  }

  bool one_thread_runs(const Inst& inst) const {
    const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
    if (copy != nullptr) return copy->kind == CopyKind::bulk;
    const WriteShared* write = std::get_if<WriteShared>(&inst.op);
    if (write != nullptr) return p_.type(write->value).axes.empty();
    if (holds_any<PassSlot, CopyOut, CommitStores, WaitStores, DrawTile>(inst.op)) return true;
    return (is_pure(inst.op) || holds_any<Loop, If, ReadShared>(inst.op)) && is_scalar(p_, inst);
  }

  const Program& p_;
  const Inst& inst_;
  const Roles& roles_;
};

/// The roles are the rest of the program: nothing but what all of them use stands before.
void stands_at_the_end(const Program& p) {
  for (const Inst& inst : p.body.insts) {
    if (&inst == &p.body.insts.back()) return;
    bool shared = is_pure(inst.op) && is_scalar(p, inst);
    if (!shared && !std::holds_alternative<Channel>(inst.op))
      fail_verify(p, inst, "only channels and scalars stand beside the roles, and before them");
  }
}

}  // namespace

void verify_roles(const Program& program) {
  const Inst* last = program.body.insts.empty() ? nullptr : &program.body.insts.back();
  const Roles* roles = last == nullptr ? nullptr : std::get_if<Roles>(&last->op);
  for_each_inst(program.body, [&](const Inst& inst) {
    if (std::holds_alternative<Roles>(inst.op) && &inst != last)
      fail_verify(program, inst, "the roles are not the program's last statement");
    if (holds_any<PassSlot, TakeTurn, PassTurn>(inst.op) && roles == nullptr)
      fail_verify(program, inst, "slots and turns pass between roles, and the program has none");
  });
  if (roles == nullptr) return;
  stands_at_the_end(program);
  RoleRules(program, *last, *roles).run();
}

}  // namespace tessera
