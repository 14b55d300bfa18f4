#include "tile_core/codegen/lifetimes.h"

#include "tile_core/ir/operands.h"

namespace tessera::codegen {
namespace {

/// What the instructions of a block, and of those inside, take.
void add_taken(const Block& block, std::set<ValueId>& values) {
  for_each_inst(block, [&](const Inst& inst) {
    for_each_operand(inst.op, [&](ValueId id) { values.insert(id); });
    for_each_block(inst.op,
                   [&](const Block& inner) { values.insert(inner.yields.begin(), inner.yields.end()); });
  });
}

}  // namespace

Lifetimes::Lifetimes(const Program& program) {
  block(program.body, {});
}

Lifetimes::Values Lifetimes::block(const Block& block, const Values& after) {
  Values needed = after;
  needed.insert(block.yields.begin(), block.yields.end());
  for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
    after_[&*inst] = needed;
    Values before = inside(*inst, needed);
    needed.insert(before.begin(), before.end());
    for_each_definition(*inst, [&](ValueId id) { needed.erase(id); });
    for_each_operand(inst->op, [&](ValueId id) { needed.insert(id); });
  }
  return needed;
}

Lifetimes::Values Lifetimes::inside(const Inst& inst, const Values& after) {
  Values at_end = after;
  for (ValueId id : inst.results) at_end.erase(id);
  // The next iteration takes from outside what this one does; what the body defines itself is not needed.
  if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
    add_taken(loop->body, at_end);
    for_each_inst(loop->body, [&](const Inst& inner) {
      for_each_definition(inner, [&](ValueId id) { at_end.erase(id); });
    });
    for_each_definition(inst, [&](ValueId id) { at_end.erase(id); });
  }
  Values needed;
  for_each_block(inst.op, [&](const Block& inner) {
    Values before = block(inner, at_end);
    needed.insert(before.begin(), before.end());
  });
  return needed;
}

}  // namespace tessera::codegen
