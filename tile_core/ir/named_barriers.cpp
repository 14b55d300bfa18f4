#include "tile_core/ir/named_barriers.h"

#include "tile_core/ir/operands.h"

namespace tessera {

RoleBarriers barriers_of(const Role& role) {
  bool meets = false, turns = false;
  for_each_inst(role.body, [&](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    meets = meets || std::holds_alternative<Barrier>(inst.op) ||
            (pass != nullptr && pass->step == SlotStep::skip);
    turns = turns || holds_any<TakeTurn, PassTurn>(inst.op);
  });
  return {.meet = meets ? role.instances : 0, .turn = turns && role.instances > 1 ? role.instances : 0};
}

}  // namespace tessera
