#include "tile_core/ir/early_reads.h"

#include <algorithm>

#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

bool is_of_warps(const DotShared& dot) {
  return dot.mma && dot.precision == Precision::ieee;
}

bool fills(const Block& block, ValueId channel) {
  bool found = false;
  for_each_inst(block, [&](const Inst& inst) {
    const auto* copy = std::get_if<CopyIn>(&inst.op);
    const auto* write = std::get_if<WriteShared>(&inst.op);
    found = found || (copy != nullptr && copy->to.channel == channel) ||
            (write != nullptr && write->to.channel == channel);
  });
  return found;
}

/// The dot that adds to what `rescale` gives, if nothing between them changes what threads see.
const Inst* dot_after(const Block& block, std::size_t rescale) {
  for (std::size_t i = rescale + 1; i < block.insts.size(); ++i) {
    const Inst& inst = block.insts[i];
    if (const auto* dot = std::get_if<DotShared>(&inst.op))
      return is_of_warps(*dot) && dot->accumulator == block.insts[rescale].result() ? &inst : nullptr;
    if (holds_any<Loop, If, Roles, Barrier, WaitCopies, WriteShared>(inst.op)) return nullptr;
  }
  return nullptr;
}

class FindEarlyReads {
 public:
  explicit FindEarlyReads(const Program& program) : program_(program) {}

  EarlyReads in(const Block& block) && {
    walk(block, {});
    return std::move(found_);
  }

 private:
  void walk(const Block& block, SettledChannels settled) {
    const bool spare = copies_spare_registers(program_, block);
    for (std::size_t i = 0; i < block.insts.size(); ++i) {
      const Inst& inst = block.insts[i];
      if (const auto* loop = std::get_if<Loop>(&inst.op)) {
        const Inst* dot = dot_of_kept_rows(*loop);
        const bool waits =
            dot != nullptr && waits_at_end(loop->body) && copies_spare_registers(program_, loop->body);
        if (waits && settled.contains(std::get<DotShared>(dot->op).a.slot.channel)) found_.rows[&inst] = dot;
      }
      const auto* binary = std::get_if<Binary>(&inst.op);
      if (spare && binary != nullptr && binary->fn == BinaryFn::rescale) {
        if (const Inst* dot = dot_after(block, i)) found_.columns[&inst] = dot;
      }
      for_each_block(inst.op, [&](const Block& inner) { walk(inner, {}); });
      settled.walk_over(inst);
    }
  }

  const Program& program_;
  EarlyReads found_;
};

}  // namespace

void SettledChannels::fill(ValueId channel, bool is_there) {
  settled_.erase(channel), waited_.erase(channel), copied_.erase(channel);
  if (is_there) {
    waited_.insert(channel);
  } else {
    copied_[channel] = 0;
  }
}

void SettledChannels::walk_over(const Inst& inst) {
  if (const auto* copy = std::get_if<CopyIn>(&inst.op)) {
    fill(copy->to.channel, copy->kind != CopyKind::async);
  } else if (const auto* write = std::get_if<WriteShared>(&inst.op)) {
    fill(write->to.channel, true);
  } else if (const auto* wait = std::get_if<WaitCopies>(&inst.op)) {
    const auto is_over = [&](const auto& copied) { return copied.second > wait->pending; };
    for (const auto& copied : copied_) {
      if (is_over(copied)) waited_.insert(copied.first);
    }
    std::erase_if(copied_, is_over);
  } else if (std::holds_alternative<CommitCopies>(inst.op)) {
    for (auto& [channel, groups] : copied_) ++groups;
  } else if (std::holds_alternative<Barrier>(inst.op)) {
    settled_.merge(waited_);
  }
  const auto is_filled = [&](ValueId channel) {
    bool filled = false;
    for_each_block(inst.op, [&](const Block& inner) { filled = filled || fills(inner, channel); });
    return filled;
  };
  std::erase_if(settled_, is_filled);
  std::erase_if(waited_, is_filled);
  std::erase_if(copied_, [&](const auto& copied) { return is_filled(copied.first); });
}

bool copies_spare_registers(const Program& program, const Block& block) {
  constexpr int kWord = 16;
  return std::none_of(block.insts.begin(), block.insts.end(), [&](const Inst& inst) {
    const auto* copy = std::get_if<CopyIn>(&inst.op);
    if (copy == nullptr) return false;
    const int bytes = copy->vector * size_of(program.type(copy->to.channel).dtype);
    return copy->kind != CopyKind::async || bytes < kWord;
  });
}

bool waits_at_end(const Block& body) {
  const auto last = body.insts.rbegin();
  return body.insts.size() >= 2 && std::holds_alternative<Barrier>(last->op) &&
         std::holds_alternative<WaitCopies>((last + 1)->op);
}

const Inst* dot_of_kept_rows(const Loop& loop) {
  for (const Inst& inst : loop.body.insts) {
    const auto* dot = std::get_if<DotShared>(&inst.op);
    if (dot == nullptr) continue;
    const bool kept = is_of_warps(*dot) && dot->a.value == ValueId::none &&
                      dot->a.slot.ticket != loop.ticket && !fills(loop.body, dot->a.slot.channel);
    return kept ? &inst : nullptr;
  }
  return nullptr;
}

EarlyReads early_reads(const Program& program) {
  return FindEarlyReads(program).in(program.body);
}

}  // namespace tessera
