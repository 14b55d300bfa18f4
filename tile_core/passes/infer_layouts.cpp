#include "tile_core/passes/infer_layouts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/layouts.h"
#include "tile_core/passes/warp_dots.h"

namespace tessera {
namespace {

/// A literal or an index can be made again in any layout.
bool is_free(const Op& op) {
  return std::holds_alternative<Constant>(op) || std::holds_alternative<Index>(op);
}

/// Inserts a conversion wherever an operand's layout is not what the operation works in, or a result's not
/// what it gives.
class InsertConversions {
 public:
  InsertConversions(const Program& program, DotPath path, const LayoutMap& layouts)
      : program_(program), path_(path), uses_(program), layouts_(layouts) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    if (std::holds_alternative<Loop>(inst.op)) return loop(r, inst);
    if (const Reduce* o = std::get_if<Reduce>(&inst.op)) return reduce(r, inst, *o);
    if (inst.results.empty() || program_.type(inst.result()).space != Space::registers) return false;
    if (!is_pointwise(inst.op) && !std::holds_alternative<Dot>(inst.op)) return false;
    const Layout& wanted = layouts_.of(inst.result());
    Op op = inst.op;
    const Dot* dot = std::get_if<Dot>(&inst.op);
    for_each_operand(op, [&](ValueId& id) {
      bool multiplied = dot != nullptr && id == dot->a && program_.type(id).space == Space::registers;
      id = operand(r, id, multiplied ? multiplied_layout(*dot) : wanted, inst.loc);
    });
    r.replace(inst.result(), r.emit(std::move(op), program_.type(inst.result()), inst.loc));
    return true;
  }

 private:
  ValueId operand(Rewriter& r, ValueId old, const Layout& wanted, Loc loc) const {
    const Type& type = program_.type(old);
    if (type.space != Space::registers) return r.map(old);
    Layout layout = wanted.restrict_to(type.axes);
    return layout == type.layout ? r.map(old) : converted(r, old, std::move(layout), loc);
  }

  /// Of a dot's first operand, where it is in registers.
  Layout multiplied_layout(const Dot& dot) const {
    const AxisId rows = dot_axes(program_, dot).rows;
    return path_ == DotPath::mma
               ? warp_layout(program_, rows, dot.axis, {program_.launch.warps, 1})
               : wgmma_layout(program_, rows, dot.axis, program_.launch.warps / kGroupWarps);
  }

  ValueId converted(Rewriter& r, ValueId old, Layout layout, Loc loc) const {
    Type type = program_.type(old);
    type.layout = std::move(layout);
    const Op& definer = uses_.definer(old).op;
    if (is_free(definer)) return r.emit(r.map(definer), std::move(type), loc);
    return r.emit(Convert{r.map(old)}, std::move(type), loc);
  }

  /// Values that enter as one may go on in different layouts, and come out in others.
  bool loop(Rewriter& r, const Inst& inst) const {
    const Loop& old = std::get<Loop>(inst.op);
    auto wanted = [&](std::size_t i) -> const Layout& { return program_.type(old.parameters[i]).layout; };
    std::vector<ValueId> entry;
    for (std::size_t i = 0; i < old.carried.size(); ++i)
      entry.push_back(operand(r, old.carried[i], wanted(i), inst.loc));
    auto enter = [&](Loop& loop) {
      for (std::size_t i = 0; i < entry.size(); ++i)
        r.out().type(loop.parameters[i]) = program_.type(old.parameters[i]);
      loop.carried = entry;
    };
    auto leave = [&](Loop& loop) {
      for (std::size_t i = 0; i < entry.size(); ++i)
        loop.body.yields[i] = operand(r, old.body.yields[i], wanted(i), inst.loc);
    };
    std::vector<ValueId> results = r.copy_loop(inst, {enter, leave});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Type& type = program_.type(inst.results[i]);
      if (type.layout != wanted(i)) r.replace(inst.results[i], r.emit(Convert{results[i]}, type, inst.loc));
    }
    return true;
  }

  /// A reduction leaves its result with the threads that held the operand.
  bool reduce(Rewriter& r, const Inst& inst, const Reduce& o) const {
    Layout left = program_.type(o.a).layout.drop(o.axis);
    const Type& wanted = program_.type(inst.result());
    if (wanted.space != Space::registers || left == wanted.layout) return false;
    Type type = wanted;
    type.layout = std::move(left);
    ValueId reduced = r.emit(r.map(inst.op), std::move(type), inst.loc);
    r.replace(inst.result(), r.emit(Convert{reduced}, wanted, inst.loc));
    return true;
  }

  const Program& program_;
  DotPath path_;
  Uses uses_;
  const LayoutMap& layouts_;
};

int choose_warps(const Program& program, const PassContext& context, DotPath path) {
  if (path == DotPath::wgmma) return kGroupWarps * sharing_of(program, context).row_groups();
  if (path == DotPath::mma) return warp_grid_of(program, context).warps();
  if (context.schedule.warps != Schedule::kAutomatic) return context.schedule.warps;
  std::int64_t largest = 1;
  for (const Type& type : program.types) {
    if (type.space == Space::registers) largest = std::max(largest, elements(program, type));
  }
  return warps_for(largest);
}

}  // namespace

Program infer_layouts(const Program& in, const PassContext& context) {
  Program p = in;
  const DotPath path = dot_path_of(in, context);
  p.launch.warps = choose_warps(in, context, path);
  LayoutMap layouts = solve_layouts(p, context);
  for (std::size_t i = 0; i < p.types.size(); ++i) {
    if (p.types[i].space == Space::registers) p.types[i].layout = layouts.of(static_cast<ValueId>(i));
  }
  return rewrite(p, InsertConversions(p, path, layouts));
}

}  // namespace tessera
