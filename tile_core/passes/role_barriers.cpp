#include "tile_core/passes/role_barriers.h"

#include <algorithm>
#include <compare>
#include <map>

#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

struct SlotOfInstance {
  ValueId channel{};
  int offset = 0;
  auto operator<=>(const SlotOfInstance&) const =
      default;  // NOLINT(modernize-use-nullptr): a false positive of clang 14
};

/// Groups of copies out that were committed since a slot's own, by slot; 0: its group is open. Slots that are
/// not being read have no entry.
using Reads = std::map<SlotOfInstance, int>;

/// What may hold where control comes from either state: the younger copy counts.
Reads joined(Reads a, const Reads& b) {
  for (const auto& [slot, age] : b) {
    auto [at, fresh] = a.try_emplace(slot, age);
    if (!fresh) at->second = std::min(at->second, age);
  }
  return a;
}

class RoleBarriers {
 public:
  Block role(const Block& body) {
    Reads reads;
    Block out = block(body, reads);
    if (!reads.empty()) statement(out, WaitStores{0}, {});  // shared memory outlives the copies
    return out;
  }

 private:
  static void statement(Block& out, Op op, Loc loc) { out.insts.push_back({{}, std::move(op), loc}); }

  Block block(const Block& in, Reads& reads) {
    Block out;
    out.yields = in.yields;
    for (const Inst& inst : in.insts) {
      if (const WriteShared* write = std::get_if<WriteShared>(&inst.op)) {
        before_write({write->to.channel, write->to.offset}, reads, out, inst.loc);
      } else if (std::holds_alternative<CopyOut>(inst.op)) {
        statement(out, FenceShared{}, inst.loc);
        statement(out, Barrier{}, inst.loc);
      }
      Inst copy = inst;
      for_each_block(copy.op, [&](Block& inner) {
        bool loops = std::holds_alternative<Loop>(copy.op);
        inner = loops ? loop(inner, reads) : branch(inner, reads);
      });
      out.insts.push_back(std::move(copy));
      note(inst, reads);
    }
    return out;
  }

  static void before_write(const SlotOfInstance& slot, Reads& reads, Block& out, Loc loc) {
    auto read = reads.find(slot);
    if (read == reads.end()) return;
    const int pending = read->second - 1;
    statement(out, WaitStores{pending}, loc);
    statement(out, Barrier{}, loc);
    std::erase_if(reads, [&](const auto& entry) { return entry.second > pending; });
  }

  static void note(const Inst& inst, Reads& reads) {
    if (const CopyOut* copy = std::get_if<CopyOut>(&inst.op)) {
      reads[{copy->from.channel, copy->from.offset}] = 0;
    } else if (std::holds_alternative<CommitStores>(inst.op)) {
      for (auto& [slot, age] : reads) ++age;
    }
  }

  /// A loop is entered from before and from its own end: iterates to the state that holds for both.
  Block loop(const Block& body, Reads& reads) {
    for (;;) {
      Reads end = reads;
      Block out = block(body, end);
      Reads both = joined(reads, end);
      if (both == reads) return out;
      reads = std::move(both);
    }
  }

  Block branch(const Block& body, Reads& reads) {
    Reads end = reads;
    Block out = block(body, end);
    reads = joined(std::move(reads), end);
    return out;
  }
};

}  // namespace

Program with_role_barriers(const Program& in) {
  Program out = in;
  for (Inst& inst : out.body.insts) {
    Roles* roles = std::get_if<Roles>(&inst.op);
    if (roles == nullptr) continue;
    for (Role& role : roles->roles) role.body = RoleBarriers().role(role.body);
  }
  return out;
}

}  // namespace tessera
