#include "tile_core/ir/varying.h"

#include "tile_core/ir/operands.h"

namespace tessera {

Varying::Varying(const Block& block, std::set<ValueId> from) : varying_(std::move(from)) {
  if (varying_.empty()) return;
  do {  // loops carry values backwards
    changed_ = false;
    for_each_inst(block, [this](const Inst& inst) { visit(inst); });
  } while (changed_);
}

void Varying::mark(ValueId id, bool varies) {
  if (varies && id != ValueId::none && varying_.insert(id).second) changed_ = true;
}

void Varying::visit(const Inst& inst) {
  if (const Loop* loop = std::get_if<Loop>(&inst.op)) return visit(inst, *loop);
  bool varies = false;
  for_each_operand(inst.op, [&](ValueId id) { varies = varies || (*this)(id); });
  for_each_block(inst.op, [&](const Block& block) {
    for (ValueId id : block.yields) varies = varies || (*this)(id);
  });
  for (ValueId id : inst.results) mark(id, varies);
}

void Varying::visit(const Inst& inst, const Loop& loop) {
  bool trips = (*this)(loop.begin) || (*this)(loop.end) || (*this)(loop.step) ||
               (loop.draws_its_starts() && (*this)(loop.body.yields.front()));
  mark(loop.start, (*this)(loop.begin) || (*this)(loop.step));
  mark(loop.ticket, (*this)(loop.first_ticket));
  for (std::size_t i = 0; i < loop.carried.size(); ++i) {
    bool varies = (*this)(loop.carried[i]) || (*this)(loop.body.yields[i]);
    mark(loop.parameters[i], varies);
    mark(inst.results[i], varies || trips);
  }
}

Varying varying_in(const Role& role) {
  std::set<ValueId> from;
  if (role.instance != ValueId::none) from.insert(role.instance);
  return {role.body, std::move(from)};
}

Varying varying_in_cluster(const Program& program) {
  std::set<ValueId> own;  // channels that a block fills for itself: those of multicast copies are alike
  for_each_inst(program.body, [&](const Inst& inst) {
    const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
    if (copy != nullptr && !copy->multicast) own.insert(copy->to.channel);
    if (const WriteShared* write = std::get_if<WriteShared>(&inst.op)) own.insert(write->to.channel);
  });
  std::set<ValueId> from;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (inst.results.empty() || std::holds_alternative<Channel>(inst.op)) return;
    bool varies = holds_any<BlockIndex, ClusterRank>(inst.op);
    for_each_operand(inst.op, [&](ValueId id) { varies = varies || own.contains(id); });
    if (varies) from.insert(inst.results.begin(), inst.results.end());
  });
  return {program.body, std::move(from)};
}

}  // namespace tessera
