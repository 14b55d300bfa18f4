#include <algorithm>
#include <map>
#include <optional>

#include "tile_core/base/error.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

/// Where each axis starts, as the program's own subscripts and indices say.
std::map<AxisId, ValueId> starts_of(const Block& block) {
  std::map<AxisId, ValueId> starts;
  auto note = [&](AxisId axis, ValueId start) {
    if (axis != AxisId::none) starts[axis] = start;
  };
  for (const Inst& inst : block.insts) {
    if (const Index* index = std::get_if<Index>(&inst.op)) note(index->axis, index->start);
    if (const Load* load = std::get_if<Load>(&inst.op)) {
      for (const Subscript& s : load->subscripts) note(s.axis, s.value);
    }
    if (const Store* store = std::get_if<Store>(&inst.op)) {
      for (const Subscript& s : store->subscripts) note(s.axis, s.value);
    }
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      note(loop->axis, loop->start);
      starts.merge(starts_of(loop->body));
    }
  }
  return starts;
}

class MaskTails {
 public:
  explicit MaskTails(const Program& program)
      : program_(program), uses_(program), starts_(starts_of(program.body)) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    if (const Reduce* reduce = std::get_if<Reduce>(&inst.op)) {
      double empty = identity(reduce->fn, program_.type(reduce->a).dtype);
      ValueId operand = masked(r, reduce->a, reduce->axis, empty, inst.loc);
      r.replace(inst.result(),
                r.emit(Reduce{reduce->fn, operand, reduce->axis}, program_.type(inst.result()), inst.loc));
      return true;
    }
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) {
      Dot result = std::get<Dot>(r.map(inst.op));
      result.a = masked(r, dot->a, dot->axis, 0, inst.loc);
      result.b = masked(r, dot->b, dot->axis, 0, inst.loc);
      r.replace(inst.result(), r.emit(result, program_.type(inst.result()), inst.loc));
      return true;
    }
    return false;
  }

 private:
  /// What the invalid lanes of an axis hold, where that is known. What lies outside a tensor reads 0; 0 times
  /// what may be infinite is not 0.
  std::optional<double> fill(ValueId id, AxisId axis) const {
    const Op& op = uses_.definer(id).op;
    if (const Constant* constant = std::get_if<Constant>(&op)) return constant->value;
    if (!program_.type(id).has(axis)) return std::nullopt;
    if (std::holds_alternative<Load>(op)) return 0;
    if (const Cast* cast = std::get_if<Cast>(&op)) return fill(cast->a, axis);
    const Select* select = std::get_if<Select>(&op);
    std::optional<double> condition = select == nullptr ? std::nullopt : fill(select->condition, axis);
    if (condition) return fill(*condition != 0 ? select->a : select->b, axis);
    const Binary* binary = std::get_if<Binary>(&op);
    if (binary == nullptr || binary->fn != BinaryFn::mul) return std::nullopt;
    std::optional<double> a = fill(binary->a, axis);
    std::optional<double> b = fill(binary->b, axis);
    return a && b ? std::optional(*a * *b) : std::nullopt;
  }

  bool holds(ValueId id, AxisId axis, double identity) const {
    return always_valid(axis) || fill(id, axis) == identity;
  }

  /// One lane of a loop that ends with the dim.
  bool always_valid(AxisId axis) const {
    const AxisInfo& info = program_.axis(axis);
    auto start = starts_.find(axis);
    if (info.extent != 1 || start == starts_.end()) return false;
    const Loop* loop = std::get_if<Loop>(&uses_.definer(start->second).op);
    const Size* end = loop == nullptr ? nullptr : std::get_if<Size>(&uses_.definer(loop->end).op);
    return end != nullptr && end->dim == info.dim && !start_facts(program_, axis).negative;
  }

  /// The value with `fill` in the invalid lanes of an axis.
  ValueId masked(Rewriter& r, ValueId old, AxisId axis, double fill, Loc loc) const {
    if (holds(old, axis, fill)) return r.map(old);
    const Type& type = program_.type(old);
    auto start = starts_.find(axis);
    if (start == starts_.end()) {
      throw UserError(
          diagnostic("axis '" + program_.axis(axis).name + "' is reduced, but nothing is indexed with it",
                     loc, "", "read a tensor with the axis, or use its index()"));
    }
    ValueId index = r.emit(Index{axis, r.map(start->second)}, {.dtype = i64, .axes = {axis}}, loc);
    ValueId size = r.emit(Size{program_.axis(axis).dim}, {.dtype = i64}, loc);
    const Type lanes{.dtype = boolean, .axes = {axis}};
    ValueId valid = r.emit(Binary{BinaryFn::lt, index, size}, lanes, loc);
    if (start_facts(program_, axis).negative) {
      ValueId zero = r.emit(Constant{0}, {.dtype = i64}, loc);
      ValueId begun = r.emit(Binary{BinaryFn::le, zero, index}, lanes, loc);
      valid = r.emit(Binary{BinaryFn::logical_and, begun, valid}, lanes, loc);
    }
    ValueId value = r.emit(Constant{fill}, {.dtype = type.dtype}, loc);
    return r.emit(Select{valid, r.map(old), value}, type, loc);
  }

  const Program& program_;
  Uses uses_;
  std::map<AxisId, ValueId> starts_;
};

}  // namespace

Program mask_tails(const Program& in, const PassContext&) {
  return rewrite(in, MaskTails(in));
}

}  // namespace tessera
