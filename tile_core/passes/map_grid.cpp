#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

const Type kIndex{.dtype = i64};

/// The number of an axis' tiles: ceil(size / extent).
ValueId emit_tiles(Rewriter& r, const AxisInfo& axis, ValueId extent) {
  ValueId size = r.emit(Size{axis.dim}, kIndex, {});
  ValueId last = r.emit(Constant{axis.extent - 1.0}, kIndex, {});
  return r.emit(Binary{BinaryFn::div, r.emit(Binary{BinaryFn::add, size, last}, kIndex, {}), extent}, kIndex,
                {});
}

/// Emits the starts of the axes that no loop steps through, in front of everything else.
class Starts {
 public:
  Starts(Rewriter& r, int raster) : r_(r), raster_(raster) {
    const Program& p = r.in();
    if (!p.grid.empty()) grid(p, r.emit(BlockIndex{}, kIndex, {}));
    for (std::size_t i = 0; i < p.axes.size(); ++i) {
      if (p.axes[i].kind == AxisKind::all) starts_[static_cast<AxisId>(i)] = constant(0);
    }
  }

  void set(AxisId axis, ValueId start) { starts_[axis] = start; }
  ValueId of(AxisId axis) const { return starts_.at(axis); }

 private:
  ValueId constant(double value) { return r_.emit(Constant{value}, kIndex, {}); }
  ValueId binary(BinaryFn fn, ValueId a, ValueId b) { return r_.emit(Binary{fn, a, b}, kIndex, {}); }

  /// The number of a tile is one in the mixed radix of the tile counts, the last grid axis fastest; where the
  /// two last axes are rastered, they count as one.
  void grid(const Program& p, ValueId rest) {
    auto it = p.grid.rbegin();
    if (raster_ > 1) {
      const AxisInfo& fast = p.axis(p.grid.back());
      const AxisInfo& slow = p.axis(p.grid[p.grid.size() - 2]);
      ValueId rows = emit_tiles(r_, slow, constant(slow.extent));
      ValueId columns = emit_tiles(r_, fast, constant(fast.extent));
      it += 2;
      ValueId number = rest;
      if (it != p.grid.rend()) {
        ValueId count = binary(BinaryFn::mul, rows, columns);
        number = binary(BinaryFn::mod, rest, count);
        rest = binary(BinaryFn::div, rest, count);
      }
      raster(p, number, rows, columns);
    }
    for (; it != p.grid.rend(); ++it) {
      const AxisInfo& axis = p.axis(*it);
      bool slowest = std::next(it) == p.grid.rend();
      ValueId extent = constant(axis.extent);
      ValueId position = rest;
      if (!slowest) {
        ValueId count = emit_tiles(r_, axis, extent);
        position = binary(BinaryFn::mod, rest, count);
        rest = binary(BinaryFn::div, rest, count);
      }
      starts_[*it] = binary(BinaryFn::mul, position, extent);
    }
  }

  /// Bands of rows of tiles, each walked down its rows first: blocks that run together share what they load.
  void raster(const Program& p, ValueId number, ValueId rows, ValueId columns) {
    ValueId height = constant(raster_);
    ValueId of_band = binary(BinaryFn::mul, height, columns);
    ValueId first = binary(BinaryFn::mul, binary(BinaryFn::div, number, of_band), height);
    ValueId rest = binary(BinaryFn::mod, number, of_band);
    ValueId left = binary(BinaryFn::min, height, binary(BinaryFn::sub, rows, first));
    ValueId row = binary(BinaryFn::add, first, binary(BinaryFn::mod, rest, left));
    ValueId column = binary(BinaryFn::div, rest, left);
    AxisId slow = p.grid[p.grid.size() - 2], fast = p.grid.back();
    starts_[slow] = binary(BinaryFn::mul, row, constant(p.axis(slow).extent));
    starts_[fast] = binary(BinaryFn::mul, column, constant(p.axis(fast).extent));
  }

  Rewriter& r_;
  int raster_;
  std::map<AxisId, ValueId> starts_;
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

/// The same for a block that stays: a loop over the tiles of the grid, from its own number in steps of the
/// number of blocks.
Program looped(Program p) {
  if (p.grid.empty()) return p;
  Block once = std::exchange(p.body, {});
  auto first = std::find_if(once.insts.begin(), once.insts.end(),
                            [](const Inst& inst) { return std::holds_alternative<BlockIndex>(inst.op); });
  Loop loop{.axis = AxisId::none};
  loop.start = first->result();
  once.insts.erase(first);
  auto emit = [&](Op op) {
    p.body.insts.push_back({{p.new_value(kIndex)}, std::move(op), {}});
    return p.body.insts.back().result();
  };
  loop.begin = emit(BlockIndex{});
  loop.step = emit(BlockCount{});
  loop.end = ValueId::none;
  for (AxisId axis : p.grid) {
    const AxisInfo& info = p.axis(axis);
    ValueId sum = emit(Binary{BinaryFn::add, emit(Size{info.dim}), emit(Constant{info.extent - 1.0})});
    ValueId count = emit(Binary{BinaryFn::div, sum, emit(Constant{static_cast<double>(info.extent)})});
    loop.end = loop.end == ValueId::none ? count : emit(Binary{BinaryFn::mul, loop.end, count});
  }
  for (Inst& inst : take_invariant(p, once, loop.start)) p.body.insts.push_back(std::move(inst));
  loop.body = std::move(once);
  p.body.insts.push_back({{}, std::move(loop), {}});
  p.launch.persistent = true;
  return renumbered(std::move(p));
}

}  // namespace

Program map_grid(const Program& in, const PassContext& context) {
  const int raster = raster_of(in, context);
  std::unique_ptr<Starts> starts;
  auto with_start = [&](Subscript& s) {
    if (s.axis != AxisId::none) s.value = starts->of(s.axis);
  };
  Program mapped = rewrite(in, [&](Rewriter& r, const Inst& inst) {
    if (!starts) starts = std::make_unique<Starts>(r, raster);
    if (const Start* start = std::get_if<Start>(&inst.op)) {
      r.replace(inst.result(), starts->of(start->axis));
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
  bool stays = uses_wgmma(in, context) && context.schedule.grid != Grid::once;
  return stays ? looped(std::move(mapped)) : mapped;
}

}  // namespace tessera
