#include <map>
#include <memory>

#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

const Type kIndex{.dtype = i64};

/// Emits the starts of the axes that no loop steps through, in front of everything else.
class Starts {
 public:
  explicit Starts(Rewriter& r) : r_(r) {
    const Program& p = r.in();
    grid(p);
    for (std::size_t i = 0; i < p.axes.size(); ++i) {
      if (p.axes[i].kind == AxisKind::all) starts_[static_cast<AxisId>(i)] = constant(0);
    }
  }

  void set(AxisId axis, ValueId start) { starts_[axis] = start; }
  ValueId of(AxisId axis) const { return starts_.at(axis); }

 private:
  ValueId constant(double value) { return r_.emit(Constant{value}, kIndex, {}); }
  ValueId binary(BinaryFn fn, ValueId a, ValueId b) { return r_.emit(Binary{fn, a, b}, kIndex, {}); }

  /// The block's index is a number in the mixed radix of the tile counts, the last grid axis fastest.
  void grid(const Program& p) {
    if (p.grid.empty()) return;
    ValueId rest = r_.emit(BlockIndex{}, kIndex, {});
    for (auto it = p.grid.rbegin(); it != p.grid.rend(); ++it) {
      const AxisInfo& axis = p.axis(*it);
      bool slowest = std::next(it) == p.grid.rend();
      ValueId extent = constant(axis.extent);
      ValueId position = rest;
      if (!slowest) {
        ValueId size = r_.emit(Size{axis.dim}, kIndex, {});
        ValueId count = binary(BinaryFn::div, binary(BinaryFn::add, size, constant(axis.extent - 1)), extent);
        position = binary(BinaryFn::mod, rest, count);
        rest = binary(BinaryFn::div, rest, count);
      }
      starts_[*it] = binary(BinaryFn::mul, position, extent);
    }
  }

  Rewriter& r_;
  std::map<AxisId, ValueId> starts_;
};

}  // namespace

Program map_grid(const Program& in, const PassContext&) {
  std::unique_ptr<Starts> starts;
  auto with_start = [&](Subscript& s) {
    if (s.axis != AxisId::none) s.value = starts->of(s.axis);
  };
  return rewrite(in, [&](Rewriter& r, const Inst& inst) {
    if (!starts) starts = std::make_unique<Starts>(r);
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
}

}  // namespace tessera
