#include "tile_core/passes/dot_path.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/passes/warp_dots.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

constexpr int kMaxColumns = 256;
constexpr int kColumnStep = 8;
constexpr int kDepth = 16;  // contracted elements of one wgmma on 16-bit operands

/// Whether a dot stands in a loop inside of a loop, but for the loop over tiles.
bool nests_dots(const Block& block, int depth) {
  return std::any_of(block.insts.begin(), block.insts.end(), [&](const Inst& inst) {
    if (std::holds_alternative<Dot>(inst.op)) return depth > 1;
    const Loop* loop = std::get_if<Loop>(&inst.op);
    return loop != nullptr && nests_dots(loop->body, depth + (loop->axis == AxisId::none ? 0 : 1));
  });
}

/// Whether a loop stands beside a dot in the dot's loop.
bool nests_loops(const Block& block) {
  return std::any_of(block.insts.begin(), block.insts.end(), [](const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return false;
    if (loop->axis == AxisId::none) return nests_loops(loop->body);
    return holds<Dot>(loop->body) && holds<Loop>(loop->body);
  });
}

/// Whether a scalar is made from scalars alone: then every role can make it.
bool is_made_of_scalars(const Program& p, const Uses& uses, ValueId id) {
  if (!p.type(id).axes.empty()) return false;
  const Inst& inst = uses.definer(id);
  if (std::holds_alternative<Loop>(inst.op)) return true;  // its start
  bool all = true;
  for_each_operand(inst.op, [&](ValueId operand) { all = all && is_made_of_scalars(p, uses, operand); });
  return all;
}

/// An axis whose loop has bounds made from tiles; none: there is none.
AxisId axis_bounded_by_tiles(const Program& p) {
  const Uses uses(p);
  AxisId axis = AxisId::none;
  for_each_inst(p.body, [&](const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr || loop->axis == AxisId::none) return;
    if (!is_made_of_scalars(p, uses, loop->begin) || !is_made_of_scalars(p, uses, loop->end))
      axis = loop->axis;
  });
  return axis;
}

/// An axis of a dot's rows that something is reduced over: its lanes are spread over warps, and roles pass
/// nothing between theirs. None: there is none.
AxisId rows_reduced(const Program& p) {
  std::set<AxisId> rows;
  for (const Dot* dot : dots_of(p)) rows.insert(dot_axes(p, *dot).rows);
  AxisId axis = AxisId::none;
  for_each_inst(p.body, [&](const Inst& inst) {
    const Reduce* reduce = std::get_if<Reduce>(&inst.op);
    if (reduce != nullptr && rows.contains(reduce->axis)) axis = reduce->axis;
  });
  return axis;
}

/// One dot's conditions, in words.
class Conditions {
 public:
  Conditions(const Program& program, const PassContext& context)
      : p_(program), context_(context), uses_(program) {}

  std::string broken_by(const Dot& dot, int row_groups) const {
    const Type& a = p_.type(dot.a);
    const Type& b = p_.type(dot.b);
    if (a.dtype != b.dtype || size_of(a.dtype) != 2)
      return fmt::format("its operands are {} and {}", name_of(a.dtype), name_of(b.dtype));
    if (a.axes.size() != 2 || b.axes.size() != 2) return "its operands are not matrices";
    DotAxes axes = dot_axes(p_, dot);
    if (int rows = extent(axes.rows); rows % (kDotRows * row_groups) != 0)
      return fmt::format("its {} rows are no multiple of {} for each of {} warpgroups", rows, kDotRows,
                         row_groups);
    if (int columns = extent(axes.columns); columns % kColumnStep != 0 || columns > kMaxColumns)
      return fmt::format("its {} columns are no multiple of {} up to {}", columns, kColumnStep, kMaxColumns);
    if (int depth = extent(dot.axis); depth % kDepth != 0)
      return fmt::format("it contracts {} lanes, no multiple of {}", depth, kDepth);
    if (const Load* load = loaded(dot.a)) {
      if (std::string broken = not_bulk(*load); !broken.empty()) return broken;
    }
    const Load* load = loaded(dot.b);
    if (load == nullptr) return "its second operand is computed";
    if (!only_multiplied(dot.b)) return "its second operand is used elsewhere, too";
    return not_bulk(*load);
  }

 private:
  int extent(AxisId axis) const { return p_.axis(axis).extent; }

  const Load* loaded(ValueId id) const {
    const Inst* definer = &uses_.definer(id);
    if (const Convert* convert = std::get_if<Convert>(&definer->op)) definer = &uses_.definer(convert->a);
    return std::get_if<Load>(&definer->op);
  }

  bool only_multiplied(ValueId id) const {
    const auto& users = uses_.users(id);
    return std::holds_alternative<Load>(uses_.definer(id).op) &&
           std::all_of(users.begin(), users.end(),
                       [](const Inst* user) { return std::holds_alternative<Dot>(user->op); });
  }

  std::string not_bulk(const Load& load) const {
    const TensorDecl& tensor = p_.tensor(load.tensor);
    const TensorFacts& facts = context_.facts.tensors.at(index_of(load.tensor));
    if (facts.contiguous_dim < 0) return fmt::format("tensor '{}' has no dim of stride 1", tensor.name);
    if (facts.alignment < kBulkAlignment) {
      return fmt::format("tensor '{}' is aligned to {} bytes, and bulk copies need {}", tensor.name,
                         facts.alignment, kBulkAlignment);
    }
    if (!facts.bulk) return fmt::format("the copy engine cannot copy boxes of tensor '{}'", tensor.name);
    AxisId fastest = load.subscripts.at(static_cast<std::size_t>(facts.contiguous_dim)).axis;
    if (fastest == AxisId::none || swizzle_of(p_, tensor.dtype, fastest) == 0)
      return fmt::format("tensor '{}' is not read in rows of 32 bytes along its contiguous dim", tensor.name);
    for (const Subscript& s : load.subscripts) {
      if (s.axis != AxisId::none && s.axis != fastest && extent(s.axis) > kMaxBox)
        return fmt::format("tensor '{}' has {} lanes of a dim in a tile, and a box {}", tensor.name,
                           extent(s.axis), kMaxBox);
    }
    return "";
  }

  const Program& p_;
  const PassContext& context_;
  Uses uses_;
};

/// The axis that holds the rows of every dot, where there is one, it is the grid's, and nothing reduces it.
AxisId common_rows(const Program& program) {
  AxisId rows = AxisId::none;
  bool reduced = false;
  for (const Dot* dot : dots_of(program)) {
    AxisId axis = dot_axes(program, *dot).rows;
    if (axis == AxisId::none || program.axis(axis).kind != AxisKind::grid) return AxisId::none;
    if (rows != AxisId::none && rows != axis) return AxisId::none;
    rows = axis;
  }
  for_each_inst(program.body, [&](const Inst& inst) {
    const Reduce* reduce = std::get_if<Reduce>(&inst.op);
    reduced = reduced || (reduce != nullptr && reduce->axis == rows);
  });
  return reduced ? AxisId::none : rows;
}

}  // namespace

std::vector<const Dot*> dots_of(const Program& program) {
  std::vector<const Dot*> dots;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) dots.push_back(dot);
  });
  return dots;
}

DotPath dot_path_of(const Program& program, const PassContext& context) {
  if (uses_wgmma(program, context)) return DotPath::wgmma;
  return why_not_mma(program, context).empty() ? DotPath::mma : DotPath::fma;
}

DotAxes dot_axes(const Program& program, const Dot& dot) {
  auto free_axis = [&](ValueId operand) {
    const auto& axes = program.type(operand).axes;
    auto it = std::find_if(axes.begin(), axes.end(), [&](AxisId axis) { return axis != dot.axis; });
    return it == axes.end() ? AxisId::none : *it;
  };
  return {free_axis(dot.a), free_axis(dot.b)};
}

int swizzle_of(const Program& program, DType dtype, AxisId fastest) {
  int row = program.axis(fastest).extent * size_of(dtype);
  for (int swizzle : {128, 64, 32}) {
    if (row % swizzle == 0) return swizzle;
  }
  return 0;
}

Sharing sharing_of(const Program& program, const PassContext& context) {
  const Schedule& s = context.schedule;
  Sharing sharing;
  AxisId rows = common_rows(program);
  if (s.share == Share::alternate) return {.groups = 2, .share = s.share};
  sharing.groups = s.groups;
  if (s.groups == Schedule::kAutomatic) {
    const int blocks = rows == AxisId::none ? 1 : program.axis(rows).extent / kDotRows;
    sharing.groups = blocks > 0 && blocks % 2 == 0 ? 2 : blocks == 3 ? 3 : 1;
  }
  return sharing;
}

int raster_of(const Program& p, const PassContext& context) {
  constexpr int kRows = 16;
  bool both =
      p.grid.size() >= 2 && p.axis(p.grid.back()).extent > 1 && p.axis(p.grid[p.grid.size() - 2]).extent > 1;
  if (!both || !uses_wgmma(p, context)) return 1;
  return context.schedule.raster == Schedule::kAutomatic ? kRows : context.schedule.raster;
}

std::string why_not_wgmma(const Program& program, const PassContext& context) {
  if (!context.target.wgmma) return fmt::format("{} has no wgmma", context.target.arch);
  if (context.schedule.warps != Schedule::kAutomatic)
    return fmt::format("the schedule has {} warps, each for itself", context.schedule.warps);
  std::vector<const Dot*> dots = dots_of(program);
  if (dots.empty()) return "the program has no dot";
  if (nests_dots(program.body, 0)) return "a dot stands in a loop inside of a loop";
  if (nests_loops(program.body)) return "a loop stands in the loop of a dot";
  if (AxisId axis = axis_bounded_by_tiles(program); axis != AxisId::none)
    return fmt::format("the loop over '{}' has a bound that is made from a tile", program.axis(axis).name);
  if (AxisId axis = rows_reduced(program); axis != AxisId::none)
    return fmt::format("rows are reduced over '{}', across warps", program.axis(axis).name);
  Sharing sharing = sharing_of(program, context);
  if (sharing.row_groups() > 1 && common_rows(program) == AxisId::none)
    return fmt::format("{} warpgroups share a tile, but the dots have no common axis of rows",
                       sharing.groups);
  Conditions conditions(program, context);
  for (const Dot* dot : dots) {
    std::string broken = conditions.broken_by(*dot, sharing.row_groups());
    if (!broken.empty()) return fmt::format("the dot over '{}': {}", program.axis(dot->axis).name, broken);
  }
  return "";
}

}  // namespace tessera
