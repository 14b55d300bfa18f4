#include <optional>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

class SplitMaskedLoops {
 public:
  explicit SplitMaskedLoops(const Program& program) : p_(program), uses_(program) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    const Select* select = std::get_if<Select>(&inst.op);
    if (select == nullptr || uses_.loop_of(inst.result()) == nullptr) return false;
    const Type type = r.out().type(r.map(select->a));  // both branches', whatever the order of its axes
    const Type& result = p_.type(inst.result());
    if (type.axes.empty() || type.axes.size() != result.axes.size() || type.layout != result.layout)
      return false;
    std::optional<ValueId> needless = always(r, select->condition, inst.loc);
    if (!needless) return false;
    If branch{.condition = *needless, .then = {}, .otherwise = {}};
    branch.then = r.emit_block([&] { return std::vector{r.map(select->a)}; });
    branch.otherwise = r.emit_block([&] {
      ValueId condition = again(r, select->condition);
      ValueId a = r.map(select->a), b = r.map(select->b);
      return std::vector{r.emit(Select{condition, a, b}, type, inst.loc)};
    });
    r.replace(inst.result(), r.emit_all(std::move(branch), {type}, inst.loc).front());
    return true;
  }

 private:
  /// A scalar that says whether a condition holds in every lane; none where its bounds are not known.
  std::optional<ValueId> always(Rewriter& r, ValueId condition, Loc loc) const {
    const Binary* o = std::get_if<Binary>(&uses_.definer(condition).op);
    if (o == nullptr || p_.type(condition).axes.empty()) return std::nullopt;
    bool compares = (o->fn == BinaryFn::lt || o->fn == BinaryFn::le) && p_.type(o->a).dtype == i64;
    if (!compares && o->fn != BinaryFn::logical_and) return std::nullopt;
    std::optional<ValueId> a = compares ? bound(r, o->a, true, loc) : always(r, o->a, loc);
    std::optional<ValueId> b = compares ? bound(r, o->b, false, loc) : always(r, o->b, loc);
    if (!a || !b) return std::nullopt;
    return r.emit(Binary{o->fn, *a, *b}, kCondition, loc);
  }

  /// The highest or the lowest element of an integer tile, as a scalar.
  std::optional<ValueId> bound(Rewriter& r, ValueId id, bool highest, Loc loc) const {
    if (p_.type(id).axes.empty()) return r.map(id);
    const Op& op = uses_.definer(id).op;
    if (const Index* index = std::get_if<Index>(&op)) {
      ValueId start = r.map(index->start);
      if (!highest) return start;
      return r.arithmetic(BinaryFn::add, start, r.constant(p_.axis(index->axis).extent - 1, loc), loc);
    }
    if (const Broadcast* broadcast = std::get_if<Broadcast>(&op)) return bound(r, broadcast->a, highest, loc);
    const Binary* o = std::get_if<Binary>(&op);
    bool monotonic = o != nullptr && (o->fn == BinaryFn::add || o->fn == BinaryFn::sub ||
                                      o->fn == BinaryFn::min || o->fn == BinaryFn::max);
    if (!monotonic) return std::nullopt;
    std::optional<ValueId> a = bound(r, o->a, highest, loc);
    std::optional<ValueId> b = bound(r, o->b, o->fn == BinaryFn::sub ? !highest : highest, loc);
    if (!a || !b) return std::nullopt;
    return r.arithmetic(o->fn, *a, *b, loc);
  }

  /// The predicate once more, where it is needed.
  ValueId again(Rewriter& r, ValueId id) const {
    const Inst& definer = uses_.definer(id);
    if (p_.type(id).axes.empty() || !is_predicate(definer.op)) return r.map(id);
    Op op = definer.op;
    for_each_operand(op, [&](ValueId& operand) { operand = again(r, operand); });
    return r.emit(std::move(op), p_.type(id), definer.loc);
  }

  const Program& p_;
  Uses uses_;
};

}  // namespace

Program split_masked_loops(const Program& in, const PassContext& context) {
  if (!has_roles(in) && dot_path_of(in, context) != DotPath::mma) return in;
  return remove_unused(rewrite(in, SplitMaskedLoops(in)));
}

}  // namespace tessera
