#include "tile_core/passes/warp_dots.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "tile_core/ir/operands.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/layouts.h"

namespace tessera {
namespace {

/// The rows and columns of a dot's result.
struct Extents {
  int rows = 1;
  int columns = 1;
};

Extents extents_of(const Program& p, const Dot& dot) {
  DotAxes axes = dot_axes(p, dot);
  return {p.axis(axes.rows).extent, p.axis(axes.columns).extent};
}

/// Whether another dot leaves its result where this one multiplies it.
bool continues_another(const Program& p, const Dot& dot) {
  const std::vector<const Dot*> dots = dots_of(p);
  return std::any_of(dots.begin(), dots.end(), [&](const Dot* other) {
    return dot_axes(p, *other).rows == dot_axes(p, dot).rows && dot_axes(p, *other).columns == dot.axis;
  });
}

/// Whether the columns of some row belong together.
bool joins_columns(const Program& p) {
  const std::vector<const Dot*> dots = dots_of(p);
  bool found =
      std::any_of(dots.begin(), dots.end(), [&](const Dot* dot) { return continues_another(p, *dot); });
  for_each_inst(p.body, [&](const Inst& inst) {
    const Reduce* reduce = std::get_if<Reduce>(&inst.op);
    if (reduce == nullptr) return;
    found = found || std::any_of(dots.begin(), dots.end(),
                                 [&](const Dot* dot) { return dot_axes(p, *dot).columns == reduce->axis; });
  });
  return found;
}

bool splits(const Program& p, WarpGrid grid) {
  const std::vector<const Dot*> dots = dots_of(p);
  return std::all_of(dots.begin(), dots.end(), [&](const Dot* dot) {
    Extents e = extents_of(p, *dot);
    return e.rows % (kWarpStep * grid.rows) == 0 && e.columns % (kWarpStep * grid.columns) == 0;
  });
}

/// Lanes that a warp reads for each contracted one, of all dots.
int reads(const Program& p, WarpGrid grid) {
  int sum = 0;
  for (const Dot* dot : dots_of(p)) {
    Extents e = extents_of(p, *dot);
    sum += e.rows / grid.rows + e.columns / grid.columns;
  }
  return sum;
}

/// The best grid of so many warps; none where they cannot split every dot.
std::optional<WarpGrid> grid_of(const Program& p, int warps) {
  const bool joined = joins_columns(p);
  std::optional<WarpGrid> best;
  for (int rows = warps; rows >= 1; rows /= 2) {
    WarpGrid grid{rows, warps / rows};
    if (!splits(p, grid)) continue;
    if (joined) return grid;
    if (!best || reads(p, grid) < reads(p, *best)) best = grid;
  }
  return best;
}

/// As many warps as the largest result has elements for, or fewer.
WarpGrid automatic_grid(const Program& p) {
  std::int64_t largest = 1;
  for (const Dot* dot : dots_of(p)) {
    Extents e = extents_of(p, *dot);
    largest = std::max(largest, std::int64_t{e.rows} * e.columns);
  }
  for (int warps = warps_for(largest); warps > 1; warps /= 2) {
    if (std::optional<WarpGrid> grid = grid_of(p, warps)) return *grid;
  }
  return {};
}

std::string broken_by(const Program& p, const Dot& dot) {
  const Type &a = p.type(dot.a), &b = p.type(dot.b);
  const bool tf32 = dot.precision != Precision::ieee;
  if (a.dtype != b.dtype || !is_float(a.dtype) || (size_of(a.dtype) != 2 && !tf32))
    return fmt::format("its operands are {} and {}{}", name_of(a.dtype), name_of(b.dtype),
                       a.dtype == f32 && b.dtype == f32 ? ", and its precision ieee" : "");
  if (a.axes.size() != 2 || b.axes.size() != 2) return "its operands are not matrices";
  Extents e = extents_of(p, dot);
  int depth = p.axis(dot.axis).extent;
  if (e.rows % kWarpStep == 0 && e.columns % kWarpStep == 0 && depth % kWarpStep == 0) return "";
  return fmt::format("it is {} x {} x {}, which are no multiples of {}", e.rows, e.columns, depth, kWarpStep);
}

}  // namespace

std::string why_not_mma(const Program& program, const PassContext& context) {
  if (!context.target.mma) return fmt::format("{} has no mma", context.target.arch);
  std::vector<const Dot*> dots = dots_of(program);
  if (dots.empty()) return "the program has no dot";
  for (const Dot* dot : dots) {
    if (std::string broken = broken_by(program, *dot); !broken.empty())
      return fmt::format("the dot over '{}': {}", program.axis(dot->axis).name, broken);
  }
  const int warps = context.schedule.warps;
  if (warps != Schedule::kAutomatic && !grid_of(program, warps))
    return fmt::format("{} warps cannot split its tiles in steps of {} rows and columns", warps, kWarpStep);
  return "";
}

WarpGrid warp_grid_of(const Program& program, const PassContext& context) {
  const int warps = context.schedule.warps;
  return warps == Schedule::kAutomatic ? automatic_grid(program) : grid_of(program, warps).value();
}

bool multiplies_registers(const Program& program, const PassContext& context, const Dot& dot) {
  return warp_grid_of(program, context).columns == 1 && continues_another(program, dot);
}

}  // namespace tessera
