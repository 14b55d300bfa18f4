#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/cluster.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"
#include "tile_core/passes/tile_order.h"
#include "tile_core/passes/work_of.h"

namespace tessera {
namespace {

/// Emits the starts of the axes that no loop steps through, in front of everything else.
class Starts {
 public:
  Starts(Rewriter& r, const PassContext& context) {
    const Program& p = r.in();
    if (!p.grid.empty()) {
      const Work work = work_of(p);
      const bool longest = longest_first(p, context, work);
      ValueId number = r.emit(walker_index(p.launch.cluster), kIndex, {});
      starts_ = longest ? emit_longest_first(r, number, work, context.schedule.grid == Grid::counter)
                        : emit_plain_order(r, number, raster_of(p, context));
    }
    for (std::size_t i = 0; i < p.axes.size(); ++i) {
      if (p.axes[i].kind == AxisKind::all) starts_[static_cast<AxisId>(i)] = r.constant(0);
    }
  }

  void set(AxisId axis, ValueId start) { starts_[axis] = start; }
  ValueId of(AxisId axis) const { return starts_.at(axis); }

 private:
  AxisStarts starts_;
};

/// Takes the scalars out of a block that depend on nothing made inside it, but for `varies`.
std::vector<Inst> take_invariant(const Program& p, Block& block, ValueId varies) {
  std::set<ValueId> inside = {varies};
  std::vector<Inst> taken, kept;
  for (Inst& inst : block.insts) {
    bool depends = inst.results.size() != 1 || !is_pure(inst.op) || !p.type(inst.result()).axes.empty();
    for_each_operand(inst.op, [&](ValueId id) { depends = depends || inside.contains(id); });
    if (depends) for_each_definition(inst, [&](ValueId id) { inside.insert(id); });
    (depends ? kept : taken).push_back(std::move(inst));
  }
  block.insts = std::move(kept);
  return taken;
}

/// Emits at the end of a program's body.
class Body : public IndexArithmetic<Body> {
 public:
  explicit Body(Program& program) : p_(program) {}

  ValueId emit(Op op, const Type& type, Loc loc = {}) {
    p_.body.insts.push_back({{p_.new_value(type)}, std::move(op), loc});
    return p_.body.insts.back().result();
  }

 private:
  Program& p_;
};

/// The same for a block that stays: a loop over the grid from its walker's number, in steps of the number of
/// walkers.
Program looped(Program p, bool counter) {
  Block once = std::exchange(p.body, {});
  const Op own = walker_index(p.launch.cluster);
  auto first =
      std::find_if(once.insts.begin(), once.insts.end(), [&](const Inst& inst) { return inst.op == own; });
  Loop loop{.axis = AxisId::none};
  loop.start = first->result();
  once.insts.erase(first);
  Body body(p);
  loop.begin = body.emit(own, kIndex);
  loop.step = body.emit(walker_count(p.launch.cluster), kIndex);
  loop.end = ValueId::none;
  for (AxisId axis : p.grid) {
    const int lanes = p.cluster_lanes(axis);
    ValueId size = body.emit(Size{p.axis(axis).dim}, kIndex);
    ValueId sum = body.arithmetic(BinaryFn::add, size, body.constant(lanes - 1));
    ValueId count = body.arithmetic(BinaryFn::div, sum, body.constant(lanes));
    loop.end = loop.end == ValueId::none ? count : body.arithmetic(BinaryFn::mul, loop.end, count);
  }
  for (Inst& inst : take_invariant(p, once, loop.start)) p.body.insts.push_back(std::move(inst));
  loop.body = std::move(once);
  p.body.insts.push_back({{}, std::move(loop), {}});
  p.launch.persistent = true;
  p.launch.counter = counter;
  return renumbered(std::move(p));
}

}  // namespace

Program map_grid(const Program& traced, const PassContext& context) {
  Program in = traced;
  in.launch.cluster = cluster_of(traced, context);
  std::unique_ptr<Starts> starts;
  auto with_start = [&](Subscript& s) {
    if (s.axis != AxisId::none) s.value = starts->of(s.axis);
  };
  Program mapped = rewrite(in, [&](Rewriter& r, const Inst& inst) {
    if (!starts) starts = std::make_unique<Starts>(r, context);
    if (const Start* start = std::get_if<Start>(&inst.op)) {
      r.replace(inst.result(), starts->of(start->axis));
    } else if (const End* end = std::get_if<End>(&inst.op)) {
      r.replace(inst.result(), r.emit(End{end->axis, starts->of(end->axis)}, kIndex, inst.loc));
    } else if (const Index* index = std::get_if<Index>(&inst.op)) {
      r.replace(inst.result(),
                r.emit(Index{index->axis, starts->of(index->axis)}, in.type(inst.result()), inst.loc));
    } else if (std::holds_alternative<Load>(inst.op)) {
      Load load = std::get<Load>(r.map(inst.op));
      for (Subscript& s : load.subscripts) with_start(s);
      r.replace(inst.result(), r.emit(std::move(load), in.type(inst.result()), inst.loc));
    } else if (std::holds_alternative<Store>(inst.op)) {
      Store store = std::get<Store>(r.map(inst.op));
      for (Subscript& s : store.subscripts) with_start(s);
      r.emit_statement(std::move(store), inst.loc);
    } else if (std::holds_alternative<Loop>(inst.op)) {
      r.copy_loop(inst, {.enter = [&](Loop& loop) {
                    loop.start = r.define(kIndex);
                    starts->set(loop.axis, loop.start);
                  }});
    } else {
      return false;
    }
    return true;
  });
  const bool counter = context.schedule.grid == Grid::counter;
  return is_persistent(in, context) ? looped(std::move(mapped), counter) : mapped;
}

}  // namespace tessera
