#include <algorithm>
#include <vector>

#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

bool same_axes(const Type& a, const Type& b) {
  return a.axes.size() == b.axes.size() &&
         std::all_of(a.axes.begin(), a.axes.end(), [&](AxisId axis) { return b.has(axis); });
}

/// Moves a sum into the dot that feeds it.
class FuseAccumulators {
 public:
  explicit FuseAccumulators(const Program& program) : program_(program), uses_(program) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) return feeds_a_sum(inst, *dot);
    const Binary* sum = std::get_if<Binary>(&inst.op);
    if (sum == nullptr || sum->fn != BinaryFn::add) return false;
    for (auto [dot, other] : {std::pair(sum->b, sum->a), std::pair(sum->a, sum->b)}) {
      const Inst& definer = uses_.definer(dot);
      const Dot* found = std::get_if<Dot>(&definer.op);
      if (found == nullptr || !feeds_a_sum(definer, *found) || dot == other) continue;
      Dot fused{r.map(found->a), r.map(found->b), found->axis, r.map(other)};
      r.replace(inst.result(), r.emit(fused, program_.type(inst.result()), definer.loc));
      return true;
    }
    return false;
  }

 private:
  /// A dot from zero that is used once, by a sum with a tile of its shape in the same block.
  bool feeds_a_sum(const Inst& inst, const Dot& dot) const {
    ValueId id = inst.result();
    if (dot.accumulator != ValueId::none || uses_.users(id).size() != 1) return false;
    const Inst& user = *uses_.users(id).front();
    const Binary* sum = std::get_if<Binary>(&user.op);
    if (sum == nullptr || sum->fn != BinaryFn::add) return false;
    if (uses_.loop_of(user.result()) != uses_.loop_of(id)) return false;
    const Inst& first = uses_.definer(sum->b);  // where both operands are dots, the second is moved into
    bool chosen = sum->b == id || !std::holds_alternative<Dot>(first.op) || !feeds_other(first, *sum);
    ValueId other = sum->a == id ? sum->b : sum->a;
    return chosen && same_axes(program_.type(other), program_.type(id));
  }

  bool feeds_other(const Inst& inst, const Binary& sum) const {
    return std::get<Dot>(inst.op).accumulator == ValueId::none && uses_.users(sum.b).size() == 1;
  }

  const Program& program_;
  Uses uses_;
};

/// Gives equal pure operations of a block and its enclosing blocks one value.
class ShareEqual {
 public:
  bool operator()(Rewriter& r, const Inst& inst) {
    if (std::holds_alternative<Loop>(inst.op)) {
      std::size_t outside = known_.size();
      r.copy(inst);
      known_.resize(outside);
      return true;
    }
    if (!is_pure(inst.op)) return false;
    Op op = r.map(inst.op);
    const Type& type = r.in().type(inst.result());
    for (const Known& known : known_) {
      if (known.op != op || r.out().type(known.id) != type) continue;
      r.replace(inst.result(), known.id);
      return true;
    }
    ValueId id = r.emit(op, type, inst.loc);
    r.replace(inst.result(), id);
    known_.push_back({std::move(op), id});
    return true;
  }

 private:
  struct Known {
    Op op;
    ValueId id;
  };
  std::vector<Known> known_;
};

}  // namespace

Program simplify(const Program& in, const PassContext&) {
  Program shared = rewrite(in, ShareEqual());
  return remove_unused(rewrite(shared, FuseAccumulators(shared)));
}

}  // namespace tessera
