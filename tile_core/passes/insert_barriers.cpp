#include <map>

#include "tile_core/base/error.h"
#include "tile_core/ir/program.h"
#include "tile_core/passes/copy_groups.h"
#include "tile_core/passes/hazards.h"
#include "tile_core/passes/passes.h"
#include "tile_core/passes/role_barriers.h"
#include "tile_core/passes/wait_at_end.h"

namespace tessera {
namespace {

class InsertBarriers {
 public:
  explicit InsertBarriers(const Program& program) : p_(program) {}

  /// Waits and barriers, with the commits that the program has.
  Program run() {
    Program out = p_;
    Hazards state;
    out.body = block(p_.body, state);
    if (state.unfinished() >= 0) out.body.insts.push_back({{}, WaitCopies{0}, {}});
    return out;
  }

 private:
  static void statement(Block& out, Op op, Loc loc) { out.insts.push_back({{}, std::move(op), loc}); }

  SlotKey key(const Slot& slot) const { return {slot.channel, slot.offset % p_.type(slot.channel).slots}; }

  Block block(const Block& in, Hazards& state) {
    Block out;
    out.yields = in.yields;
    for (const Inst& inst : in.insts) {
      guard(inst, state, out);
      Inst copy = inst;
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
        std::get<Loop>(copy.op).body = body(*loop, state, inst.loc);
      }
      out.insts.push_back(std::move(copy));
      note(inst, state);
    }
    return out;
  }

  /// What must stand before an instruction.
  void guard(const Inst& inst, Hazards& state, Block& out) const {
    std::vector<SlotKey> touched = reads(inst);
    for (const SlotKey& write : writes(inst)) touched.push_back(write);
    wait_for(touched, state, out, inst.loc);
    bool barrier = false;
    for (const SlotKey& read : reads(inst)) barrier = barrier || state.barrier_before_reading(read);
    for (const SlotKey& write : writes(inst)) barrier = barrier || state.barrier_before_writing(write);
    if (!barrier) return;
    statement(out, Barrier{}, inst.loc);
    state.synchronised();
  }

  /// One wait that covers the unfinished copies into all these slots.
  static void wait_for(const std::vector<SlotKey>& slots, Hazards& state, Block& out, Loc loc) {
    std::optional<int> pending;
    for (const SlotKey& slot : slots) {
      std::optional<int> of_slot = state.wait_before_reading(slot);
      if (of_slot && (!pending || *of_slot < *pending)) pending = of_slot;
    }
    if (!pending) return;
    statement(out, WaitCopies{*pending}, loc);
    state.waited(*pending);
  }

  void note(const Inst& inst, Hazards& state) const {
    if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) {
      copy->kind == CopyKind::async ? state.copying(key(copy->to)) : state.written(key(copy->to));
    } else if (const WriteShared* write = std::get_if<WriteShared>(&inst.op)) {
      state.written(key(write->to));
    } else if (std::holds_alternative<CommitCopies>(inst.op)) {
      state.committed();
    }
    for (const SlotKey& read : reads(inst)) state.read(read);
  }

  std::vector<SlotKey> reads(const Inst& inst) const {
    if (const ReadShared* read = std::get_if<ReadShared>(&inst.op)) return {key(read->from)};
    const DotShared* dot = std::get_if<DotShared>(&inst.op);
    if (dot == nullptr) return {};
    if (dot->a.value != ValueId::none) return {key(dot->b)};
    return {key(dot->a.slot), key(dot->b)};
  }

  std::vector<SlotKey> writes(const Inst& inst) const {
    if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) return {key(copy->to)};
    if (const WriteShared* write = std::get_if<WriteShared>(&inst.op)) return {key(write->to)};
    return {};
  }

  /// A loop is entered from before and from its own end: iterates to the states that hold for both, then
  /// emits.
  Block body(const Loop& loop, Hazards& state, Loc loc) {
    Hazards entry = state;
    for (;;) {
      Hazards end = entry;
      Block emitted = with_wait_at_start(loop, end, loc);
      end.next_iteration(rings_of(loop));
      Hazards joined = entry.joined(end);
      if (joined == entry) {
        state = entry;  // after the last iteration, or none
        state.forget_order(rings_of(loop));
        return emitted;
      }
      entry = joined;
    }
  }

  /// This iteration's ring slots are waited for at once, so that one barrier serves for them and for the
  /// slots written next.
  Block with_wait_at_start(const Loop& loop, Hazards& state, Loc loc) {
    std::vector<SlotKey> current;
    for (const Inst& inst : loop.body.insts) {
      for (const SlotKey& read : reads(inst)) {
        if (read.offset == 0 && rings_of(loop).contains(read.channel)) current.push_back(read);
      }
    }
    Block start;
    wait_for(current, state, start, loc);
    Block rest = block(loop.body, state);
    rest.insts.insert(rest.insts.begin(), start.insts.begin(), start.insts.end());
    return rest;
  }

  /// The channels whose slots are counted by the loop's ticket, and their numbers of slots.
  std::map<ValueId, int> rings_of(const Loop& loop) const {
    std::map<ValueId, int> rings;
    auto note_slot = [&](const Slot& slot) {
      if (slot.ticket != ValueId::none && slot.ticket == loop.ticket)
        rings[slot.channel] = p_.type(slot.channel).slots;
    };
    for (const Inst& inst : loop.body.insts) {
      if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) note_slot(copy->to);
      if (const DotShared* dot = std::get_if<DotShared>(&inst.op)) note_slot(dot->a.slot), note_slot(dot->b);
      if (const ReadShared* read = std::get_if<ReadShared>(&inst.op)) note_slot(read->from);
    }
    return rings;
  }

  const Program& p_;
};

}  // namespace

Program insert_barriers(const Program& in, const PassContext&) {
  if (has_roles(in)) return with_role_barriers(in);
  Program synced = InsertBarriers(in).run();
  return with_waits_at_end(InsertBarriers(join_copy_groups(in, synced)).run());
}

}  // namespace tessera
