#include "tile_core/dsl/origins.h"

#include "tile_core/ir/operands.h"

namespace tessera::dsl {
namespace {

void add(AxisSet& to, const AxisSet& from) {
  to.insert(from.begin(), from.end());
}

}  // namespace

Origins::Origins(const Program& program) : p_(program) {
  block(program.body);
}

AxisSet Origins::of_axis(AxisId axis) const {
  if (p_.axis(axis).kind == AxisKind::grid) return {axis};
  auto found = loops_.find(axis);
  return found == loops_.end() ? AxisSet() : found->second;
}

AxisSet Origins::of_value(ValueId id) const {
  auto found = values_.find(id);
  return found == values_.end() ? AxisSet() : found->second;
}

AxisSet Origins::of(const Subscript& subscript) const {
  return subscript.axis == AxisId::none ? of_value(subscript.value) : of_axis(subscript.axis);
}

AxisSet Origins::of_operands(const Op& op) const {
  AxisSet all;
  for_each_operand(op, [&](ValueId id) { add(all, of_value(id)); });
  if (const Index* index = std::get_if<Index>(&op)) add(all, of_axis(index->axis));
  if (const Start* start = std::get_if<Start>(&op)) add(all, of_axis(start->axis));
  if (const End* end = std::get_if<End>(&op)) add(all, of_axis(end->axis));
  if (const Load* load = std::get_if<Load>(&op)) {
    for (const Subscript& s : load->subscripts) add(all, of(s));
  }
  return all;
}

void Origins::block(const Block& block) {
  for (const Inst& inst : block.insts) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      this->loop(inst, *loop);
    } else {
      for (ValueId id : inst.results) values_[id] = of_operands(inst.op);
    }
  }
}

/// What is yielded comes in again, until nothing more comes in.
void Origins::loop(const Inst& inst, const Loop& loop) {
  AxisSet bounds = of_value(loop.begin);
  add(bounds, of_value(loop.end));
  loops_[loop.axis] = bounds;
  loops_[loop.axis].insert(loop.axis);
  for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
    values_[loop.parameters[i]] = of_value(loop.carried[i]);
    add(values_[loop.parameters[i]], loops_[loop.axis]);
  }
  for (bool grows = true; grows;) {
    grows = false;
    block(loop.body);
    for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
      AxisSet& origins = values_[loop.parameters[i]];
      const std::size_t before = origins.size();
      add(origins, of_value(loop.body.yields[i]));
      grows = grows || origins.size() > before;
    }
  }
  for (std::size_t i = 0; i < inst.results.size(); ++i)
    values_[inst.results[i]] = of_value(loop.parameters[i]);
}

}  // namespace tessera::dsl
