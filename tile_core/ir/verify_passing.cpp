#include <compare>
#include <set>

#include "tile_core/base/match.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// One use of a channel's slot; of those that share barriers, the channel that has them.
struct Use {
  ValueId channel{};
  ValueId ticket = ValueId::none;
  int offset = 0;
  auto operator<=>(const Use&) const =
      default;  // NOLINT(modernize-use-nullptr): a false positive of clang 14
};

/// What an instance of a role owns at a point of its program, whatever way it came.
struct Owned {
  std::set<Use> acquired;  ///< and not committed
  std::set<Use> waited;    ///< and not released
  bool turn = false;
  bool operator==(const Owned&) const = default;
};

/// Walks the program of one role: who writes a slot has acquired it, who reads it has waited for it, and what
/// is acquired or taken is given back in the iteration or the branch that took it.
class PassingRules {
 public:
  PassingRules(const Program& program, const Channels& channels, const std::map<ValueId, Protocol>& protocols)
      : p_(program), channels_(channels), protocols_(protocols) {}

  void role(const Role& role) {
    for_each_inst(role.body, [this](const Inst& inst) {
      const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
      if (pass != nullptr && pass->step == SlotStep::wait) reads_.insert(use_of(pass->slot).channel);
    });
    Owned owned;
    block(role.body, owned);
    if (!owned.acquired.empty())
      fail_verify(p_, fmt::format("a role ends, but a slot of {} is acquired and not committed",
                                  name_of(p_, owned.acquired.begin()->channel)));
    if (owned.turn) fail_verify(p_, "a role ends, but has not passed its turn");
  }

 private:
  Use use_of(const Slot& slot) const {
    const ValueId with = channels_.at(slot.channel)->with;
    return {with == ValueId::none ? slot.channel : with, slot.ticket, slot.offset};
  }

  [[noreturn]] void fail(const Inst& inst, const Use& use, const char* what) const {
    fail_verify(p_, inst, fmt::format("a slot of {} {}", name_of(p_, use.channel), what));
  }

  void block(const Block& block, Owned& owned) {
    for (const Inst& inst : block.insts) {
      accesses(inst, owned);
      if (const PassSlot* pass = std::get_if<PassSlot>(&inst.op)) this->pass(inst, *pass, owned);
      if (holds_any<TakeTurn, PassTurn>(inst.op)) turn(inst, owned);
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) this->loop(inst, *loop, owned);
      if (const If* branch = std::get_if<If>(&inst.op)) this->branch(inst, *branch, owned);
    }
  }

  void pass(const Inst& inst, const PassSlot& pass, Owned& owned) const {
    const Use use = use_of(pass.slot);
    switch (pass.step) {
      case SlotStep::acquire:
        if (!owned.acquired.insert(use).second)
          fail(inst, use, "is acquired twice and not committed between");
        break;
      case SlotStep::commit:
        if (owned.acquired.erase(use) == 0 && !is_filled_once(use))
          fail(inst, use, "is committed, but not acquired");
        break;
      case SlotStep::wait:
        owned.waited.insert(use);
        break;
      case SlotStep::release:  // maybe of the iteration before, by another ticket
        owned.waited.erase(use);
        if (!reads_.contains(use.channel)) fail(inst, use, "is released by a role that waits for none");
        break;
      case SlotStep::skip:
        if (owned.waited.contains(use)) fail(inst, use, "is skipped, but waited for and not released");
    }
  }

  void turn(const Inst& inst, Owned& owned) const {
    const bool takes = std::holds_alternative<TakeTurn>(inst.op);
    if (takes == owned.turn)
      fail_verify(p_, inst,
                  takes ? "a turn is taken twice and not passed between" : "a turn is passed, but not taken");
    owned.turn = takes;
  }

  /// A channel that nobody releases is filled before anybody reads it, and needs no acquiring.
  bool is_filled_once(const Use& use) const { return protocols_.at(use.channel).releases == 0; }

  void accesses(const Inst& inst, const Owned& owned) const {
    auto writes = [&](const Slot& slot) {
      const Use use = use_of(slot);
      if (!protocols_.contains(use.channel) || is_filled_once(use)) return;
      if (!owned.acquired.contains(use) && !owned.waited.contains(use))
        fail(inst, use, "is written, but not acquired");
    };
    auto reads = [&](const Slot& slot) {
      const Use use = use_of(slot);
      if (protocols_.contains(use.channel) && !owned.waited.contains(use) && !owned.acquired.contains(use))
        fail(inst, use, "is read, but not waited for");
    };
    match(
        inst.op, [&](const View& o) { reads(o.slot); }, [&](const CopyIn& o) { writes(o.to); },
        [&](const WriteShared& o) { writes(o.to); }, [&](const ReadShared& o) { reads(o.from); },
        [&](const CopyOut& o) { reads(o.from); },
        [&](const DotShared& o) {
          if (o.a.value == ValueId::none) reads(o.a.slot);
          reads(o.b);
        },
        [&](const IssueDot& o) {
          if (o.a.value == ValueId::none) reads(o.a.slot);
          reads(o.b);
        },
        [](const auto&) {});
  }

  /// What is said where two ways that meet differ.
  struct Complaint {
    const char* slots;
    const char* turn;
  };
  static constexpr Complaint kIteration{"an iteration ends with other slots acquired than it begins with",
                                        "an iteration takes or passes a turn for good"};
  static constexpr Complaint kBranch{"the sides of a branch end with different slots acquired",
                                     "one side of a branch ends with a turn, the other without"};

  /// Only what both have waited for may be read.
  void join(const Inst& inst, Owned& a, const Owned& b, const Complaint& complaint) const {
    if (a.acquired != b.acquired) fail_verify(p_, inst, complaint.slots);
    if (a.turn != b.turn) fail_verify(p_, inst, complaint.turn);
    std::erase_if(a.waited, [&](const Use& use) { return !b.waited.contains(use); });
  }

  void loop(const Inst& inst, const Loop& loop, Owned& owned) {
    Owned before;
    do {
      before = owned;
      Owned end = owned;
      block(loop.body, end);
      join(inst, owned, end, kIteration);
    } while (owned != before);
  }

  void branch(const Inst& inst, const If& branch, Owned& owned) {
    Owned otherwise = owned;
    block(branch.then, owned);
    block(branch.otherwise, otherwise);
    join(inst, owned, otherwise, kBranch);
  }

  const Program& p_;
  const Channels& channels_;
  const std::map<ValueId, Protocol>& protocols_;
  std::set<ValueId> reads_;  // channels that the role waits for, by those whose barriers they share
};

}  // namespace

void verify_passing(const Program& program) {
  const Channels channels = channels_of(program);
  const std::map<ValueId, Protocol> passed = protocols(program);
  for (const Role& role : roles_of(program)) PassingRules(program, channels, passed).role(role);
}

}  // namespace tessera
