#include "tile_core/ir/trailing_dot.h"

#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

/// Whole, and filled in an earlier iteration.
bool is_ahead(const Slot& slot, const Loop& loop) {
  bool filled_here = false;
  for_each_inst(loop.body, [&](const Inst& inst) {
    const auto fills = [&](const Slot& to) {
      filled_here =
          filled_here || (to.channel == slot.channel && (to.ticket != loop.ticket || to.offset == 0));
    };
    if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) fills(copy->to);
    if (const WriteShared* write = std::get_if<WriteShared>(&inst.op)) fills(write->to);
  });
  return slot.ticket == loop.ticket && slot.offset == 0 && slot.part.of == AxisId::none && !filled_here;
}

}  // namespace

const Inst* trailing_dot(const Loop& loop) {
  const Inst* found = nullptr;
  bool only = loop.ticket != ValueId::none;
  for_each_inst(loop.body, [&](const Inst& inst) {
    const DotShared* dot = std::get_if<DotShared>(&inst.op);
    if (dot == nullptr) return;
    only = only && found == nullptr && dot->mma && dot->a.value == ValueId::none &&
           is_ahead(dot->a.slot, loop) && is_ahead(dot->b, loop);
    found = &inst;
  });
  if (found == nullptr || !only) return nullptr;
  bool outermost = false, read = false;
  for (const Inst& inst : loop.body.insts) outermost = outermost || &inst == found;
  for_each_inst(loop.body, [&](const Inst& inst) {
    for_each_operand(inst.op, [&](ValueId id) { read = read || id == found->result(); });
    for_each_block(inst.op, [&](const Block& inner) {
      for (ValueId id : inner.yields) read = read || id == found->result();
    });
  });
  return outermost && !read ? found : nullptr;
}

}  // namespace tessera
