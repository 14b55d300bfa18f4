#include <algorithm>
#include <optional>

#include "tile_core/base/error.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/channels.h"
#include "tile_core/passes/lower_roles.h"
#include "tile_core/passes/passes.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

constexpr int kRealigned = 8;  // elements of an access of 16 bytes

class LowerTiles {
 public:
  LowerTiles(const Program& program, const PassContext& context)
      : p_(program),
        context_(context),
        mma_(dot_path_of(program, context) == DotPath::mma),
        channels_(program, context) {}

  bool operator()(Rewriter& r, const Inst& inst) {
    if (!declared_) channels_.declare(r);
    declared_ = true;
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) return lower_loop(r, inst, *loop);
    if (const Load* load = std::get_if<Load>(&inst.op)) return lower_load(r, inst, *load);
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) return lower_dot(r, inst, *dot);
    if (const Convert* convert = std::get_if<Convert>(&inst.op)) return lower_convert(r, inst, *convert);
    if (const Reduce* reduce = std::get_if<Reduce>(&inst.op)) return lower_reduce(r, inst, *reduce);
    return false;
  }

 private:
  bool is_shared(ValueId id) const { return p_.type(id).space == Space::shared; }

  /// Tiles in shared memory are no longer carried: the ring's slots are counted by the loop's ticket.
  bool lower_loop(Rewriter& r, const Inst& inst, const Loop& old) {
    if (!channels_.has_ring(old)) return false;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < old.parameters.size(); ++i) {
      if (is_shared(old.parameters[i])) {
        r.replace(old.carried[i], channels_.slot(old.carried[i]).channel);
      } else {
        kept.push_back(i);
      }
    }
    auto enter = [&](Loop& loop) {
      loop.ticket = r.define({.dtype = i64});
      channels_.enter(old, loop.ticket);
    };
    auto leave = [&](Loop& loop) {
      for (auto* list : {&loop.carried, &loop.parameters, &loop.body.yields}) {
        std::vector<ValueId> rest;
        for (std::size_t i : kept) rest.push_back(list->at(i));
        *list = std::move(rest);
      }
    };
    std::vector<ValueId> results = r.copy_loop(inst, {enter, leave});
    for (std::size_t i = 0; i < kept.size(); ++i) r.replace(inst.results[kept[i]], results[i]);
    return true;
  }

  bool lower_load(Rewriter& r, const Inst& inst, const Load& load) {
    if (!is_shared(inst.result())) return false;
    constexpr int kSmallestAsync = 4;  // bytes of a cp.async: 4, 8 or 16
    Access access = widest_access(p_, context_.facts, context_.schedule, load.tensor, load.subscripts);
    int bytes = access.vector * size_of(p_.type(inst.result()).dtype);
    CopyIn copy{std::get<Load>(r.map(inst.op)), channels_.slot(inst.result()), CopyKind::threads,
                access.vector};
    if (context_.target.cp_async && bytes >= kSmallestAsync) {
      copy.kind = CopyKind::async;
    } else if (realigns(inst, access)) {
      copy.kind = CopyKind::realigned;
      copy.vector = kRealigned;
    }
    r.emit_statement(copy, inst.loc);
    if (copy.kind == CopyKind::async) r.emit_statement(CommitCopies{}, inst.loc);
    r.replace(inst.result(), copy.to.channel);
    return true;
  }

  /// Whether a row of elements of 16 bits, which may begin anywhere, is whole accesses long.
  bool realigns(const Inst& inst, const Access& access) const {
    const int most = context_.schedule.vector;
    if (most != Schedule::kAutomatic && most < 2 * kRealigned) return false;
    return access.axis != AxisId::none && access.vector == 1 && size_of(p_.type(inst.result()).dtype) == 2 &&
           p_.axis(access.axis).extent % kRealigned == 0 && !start_facts(p_, access.axis).negative;
  }

  bool lower_dot(Rewriter& r, const Inst& inst, const Dot& dot) {
    const Type& type = p_.type(inst.result());
    ValueId accumulator =
        dot.accumulator == ValueId::none ? r.emit(Constant{0}, type, inst.loc) : r.map(dot.accumulator);
    DotShared lowered{.b = channels_.slot(dot.b),
                      .axis = dot.axis,
                      .accumulator = accumulator,
                      .mma = mma_,
                      .precision = dot.precision};
    if (is_shared(dot.a)) {
      lowered.a.slot = channels_.slot(dot.a);
    } else {
      lowered.a.value = r.map(dot.a);
    }
    r.replace(inst.result(), r.emit(lowered, type, inst.loc));
    return true;
  }

  bool lower_convert(Rewriter& r, const Inst& inst, const Convert& convert) {
    Slot slot = channels_.detour(inst.result());
    r.emit_statement(WriteShared{slot, r.map(convert.a)}, inst.loc);
    if (is_shared(inst.result())) {
      r.replace(inst.result(), slot.channel);
    } else {
      r.replace(inst.result(), r.emit(ReadShared{slot}, p_.type(inst.result()), inst.loc));
    }
    return true;
  }

  /// Each warp reduces what it holds; then every thread reduces the warps' results.
  bool lower_reduce(Rewriter& r, const Inst& inst, const Reduce& reduce) {
    if (!crosses_warps(p_, reduce)) return false;
    AxisId warps = channels_.warps_axis(inst.result());
    const Type& operand = p_.type(reduce.a);
    Type partial = p_.type(inst.result());
    partial.axes.push_back(warps);
    partial.layout = along_warps(operand.layout, reduce.axis, warps);
    ValueId of_warps = r.emit(ReduceWarp{reduce.fn, r.map(reduce.a), reduce.axis, warps}, partial, inst.loc);
    Slot slot = channels_.detour(inst.result());
    r.emit_statement(WriteShared{slot, of_warps}, inst.loc);
    std::vector<Repeat> repeats = p_.type(inst.result()).layout.repeats();
    repeats.push_back({Place::reg, warps, r.out().axis(warps).extent, 1});
    partial.layout = Layout(std::move(repeats));
    ValueId all = r.emit(ReadShared{slot}, partial, inst.loc);
    r.replace(inst.result(), r.emit(Reduce{reduce.fn, all, warps}, p_.type(inst.result()), inst.loc));
    return true;
  }

  /// The layout with the axis gone but for its warps, which stand along an axis of their own.
  static Layout along_warps(const Layout& layout, AxisId axis, AxisId warps) {
    std::vector<Repeat> repeats;
    int stride = 1;
    for (Repeat repeat : layout.repeats()) {
      if (repeat.axis == axis) {
        if (repeat.place == Place::reg) continue;
        bool warp = repeat.place == Place::warp;
        repeat = {repeat.place, warp ? warps : AxisId::none, repeat.count, warp ? stride : 0};
        if (warp) stride *= repeat.count;
      }
      repeats.push_back(repeat);
    }
    return Layout(std::move(repeats));
  }

  const Program& p_;
  const PassContext& context_;
  bool mma_;
  Channels channels_;
  bool declared_ = false;
};

}  // namespace

Program lower_tiles(const Program& in, const PassContext& context) {
  if (has_roles(in)) return lower_roles(in, context);
  LowerTiles pass(in, context);
  return rewrite(in, [&](Rewriter& r, const Inst& inst) { return pass(r, inst); });
}

}  // namespace tessera
