#include "tile_core/ir/trailing_dot.h"

#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

bool is_current(const Slot& slot, const Loop& loop) {
  return slot.ticket == loop.ticket && slot.offset == 0;
}

}  // namespace

const Inst* trailing_dot(const Loop& loop) {
  const Inst* found = nullptr;
  bool only = loop.ticket != ValueId::none;
  for_each_inst(loop.body, [&](const Inst& inst) {
    const DotShared* dot = std::get_if<DotShared>(&inst.op);
    if (dot == nullptr) return;
    only = only && found == nullptr && dot->mma && dot->a.value == ValueId::none &&
           is_current(dot->a.slot, loop) && is_current(dot->b, loop);
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
