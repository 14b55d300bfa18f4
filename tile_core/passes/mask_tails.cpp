#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "tile_core/base/error.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// Nobody knows an integer that is beyond its dtype.
std::optional<double> within(DType dtype, std::optional<double> fill) {
  const bool beyond = fill && is_integer(dtype) && (!holds(dtype, *fill) || *fill >= 0x1p63);
  return beyond ? std::nullopt : fill;
}

class MaskTails {
 public:
  explicit MaskTails(const Program& program)
      : program_(program), uses_(program), starts_(starts_of(program.body)) {}

  bool operator()(Rewriter& r, const Inst& inst) {
    if (const Reduce* reduce = std::get_if<Reduce>(&inst.op)) {
      double empty = identity(reduce->fn, program_.type(reduce->a).dtype);
      ValueId operand = masked(r, reduce->a, reduce->axis, empty, inst);
      r.replace(inst.result(),
                r.emit(Reduce{reduce->fn, operand, reduce->axis}, program_.type(inst.result()), inst.loc));
      return true;
    }
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) {
      Dot result = std::get<Dot>(r.map(inst.op));
      result.a = masked(r, dot->a, dot->axis, 0, inst);
      result.b = masked(r, dot->b, dot->axis, 0, inst);
      r.replace(inst.result(), r.emit(result, program_.type(inst.result()), inst.loc));
      return true;
    }
    return false;
  }

 private:
  /// What the invalid lanes of an axis hold, where that is known. What lies outside a tensor reads 0; 0 times
  /// what may be infinite is not 0.
  std::optional<double> fill(ValueId id, AxisId axis) const {
    if (auto masked = masked_.find({id, axis}); masked != masked_.end()) return masked->second;
    const Op& op = uses_.definer(id).op;
    if (const Constant* constant = std::get_if<Constant>(&op)) return constant->value;
    if (!program_.type(id).has(axis)) return std::nullopt;
    if (std::holds_alternative<Load>(op)) return 0;
    if (const Cast* cast = std::get_if<Cast>(&op))
      return within(program_.type(id).dtype, fill(cast->a, axis));
    const Select* select = std::get_if<Select>(&op);
    std::optional<double> condition = select == nullptr ? std::nullopt : fill(select->condition, axis);
    if (condition) return fill(*condition != 0 ? select->a : select->b, axis);
    if (const Unary* unary = std::get_if<Unary>(&op)) return fill_of(*unary, axis);
    if (const Fma* fma = std::get_if<Fma>(&op)) return fill_of(*fma, axis);
    const Binary* binary = std::get_if<Binary>(&op);
    return binary == nullptr ? std::nullopt : fill_of(*binary, axis);
  }

  std::optional<double> fill_of(const Unary& unary, AxisId axis) const {
    bool exponential = unary.fn == UnaryFn::exp || unary.fn == UnaryFn::exp2;
    return exponential && fill(unary.a, axis) == -kInfinity ? std::optional(0.0) : std::nullopt;
  }

  /// -inf less what is not -inf is -inf, or NaN where that is: then the row's other lanes are NaN too.
  std::optional<double> fill_of(const Binary& binary, AxisId axis) const {
    std::optional<double> a = fill(binary.a, axis);
    if (binary.fn == BinaryFn::sub && a == -kInfinity && never_lowest(binary.b)) return a;
    bool product_of_both = binary.fn == BinaryFn::mul || binary.fn == BinaryFn::rescale;
    return product_of_both ? product(binary.a, binary.b, axis) : std::nullopt;
  }

  /// -inf and what is not inf are -inf.
  std::optional<double> fill_of(const Fma& fma, AxisId axis) const {
    const Unary* minus = std::get_if<Unary>(&uses_.definer(fma.c).op);
    bool lowest = product(fma.a, fma.b, axis) == -kInfinity && minus != nullptr &&
                  minus->fn == UnaryFn::neg && never_lowest(minus->a);
    return lowest ? std::optional(-kInfinity) : std::nullopt;
  }

  std::optional<double> product(ValueId left, ValueId right, AxisId axis) const {
    std::optional<double> a = fill(left, axis), b = fill(right, axis);
    if (a == -kInfinity && is_positive(right)) return a;
    return a && b ? within(program_.type(left).dtype, *a * *b) : std::nullopt;
  }

  /// Whether a value is bounded from below by a number above 0.
  bool is_positive(ValueId id) const {
    const Op& op = uses_.definer(id).op;
    if (const Constant* constant = std::get_if<Constant>(&op)) return constant->value > 0;
    if (const Broadcast* wide = std::get_if<Broadcast>(&op)) return is_positive(wide->a);
    const Binary* binary = std::get_if<Binary>(&op);
    return binary != nullptr && binary->fn == BinaryFn::max &&
           (is_positive(binary->a) || is_positive(binary->b));
  }

  /// Whether a value is guarded against -inf: where it is, another stands for it.
  bool never_lowest(ValueId id) const {
    const Select* select = std::get_if<Select>(&uses_.definer(id).op);
    const Binary* guard =
        select == nullptr ? nullptr : std::get_if<Binary>(&uses_.definer(select->condition).op);
    if (guard == nullptr || guard->fn != BinaryFn::eq || guard->a != select->b) return false;
    const Constant* lowest = std::get_if<Constant>(&uses_.definer(guard->b).op);
    const Constant* instead = std::get_if<Constant>(&uses_.definer(select->a).op);
    return lowest != nullptr && lowest->value == -kInfinity && instead != nullptr &&
           std::isfinite(instead->value);
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

  /// The value with `fill` in the invalid lanes of an axis. Nothing else sees those lanes, so that it stands
  /// for the old one from here on.
  ValueId masked(Rewriter& r, ValueId old, AxisId axis, double fill, const Inst& user) {
    const Loc loc = user.loc;
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
    ValueId now = r.emit(Select{valid, r.map(old), value}, type, loc);
    if (uses_.loop_of(old) != uses_.loop_of(user.result())) return now;
    masked_[{old, axis}] = fill;
    r.replace(old, now);
    return now;
  }

  const Program& program_;
  Uses uses_;
  std::map<AxisId, ValueId> starts_;
  std::map<std::pair<ValueId, AxisId>, double> masked_;  // what the lanes hold from here on
};

}  // namespace

Program mask_tails(const Program& in, const PassContext&) {
  MaskTails pass(in);
  return rewrite(in, [&](Rewriter& r, const Inst& inst) { return pass(r, inst); });
}

}  // namespace tessera
