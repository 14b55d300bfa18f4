#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

/// Moves a sum into the dot that feeds it.
class FuseAccumulators {
 public:
  explicit FuseAccumulators(const Program& program) : program_(program), uses_(program) {
    for_each_inst(program.body, [&](const Inst& inst) { choose(inst); });
  }

  bool operator()(Rewriter& r, const Inst& inst) const {
    if (inst.results.empty()) return false;
    if (moved_.contains(inst.result())) return true;  // emitted where its sum was
    auto chosen = dot_of_sum_.find(inst.result());
    if (chosen == dot_of_sum_.end()) return false;
    const Inst& definer = uses_.definer(chosen->second);
    const Binary& sum = std::get<Binary>(inst.op);
    Dot fused = std::get<Dot>(r.map(definer.op));
    fused.accumulator = r.map(sum.a == chosen->second ? sum.b : sum.a);
    r.replace(inst.result(), r.emit(fused, program_.type(inst.result()), definer.loc));
    return true;
  }

 private:
  /// Of a sum of two dots the second is moved.
  void choose(const Inst& inst) {
    const Binary* sum = std::get_if<Binary>(&inst.op);
    if (sum == nullptr || sum->fn != BinaryFn::add) return;
    for (auto [dot, other] : {std::pair(sum->b, sum->a), std::pair(sum->a, sum->b)}) {
      if (!fits(dot, other, inst.result())) continue;
      dot_of_sum_[inst.result()] = dot;
      moved_.insert(dot);
      return;
    }
  }

  /// A dot from zero that only this sum takes, in the same block, and a tile of its shape to start from.
  bool fits(ValueId dot, ValueId other, ValueId sum) const {
    const Dot* op = std::get_if<Dot>(&uses_.definer(dot).op);
    return op != nullptr && op->accumulator == ValueId::none && uses_.users(dot).size() == 1 &&
           uses_.loop_of(dot) == uses_.loop_of(sum) &&
           same_axes(program_.type(dot).axes, program_.type(other).axes);
  }

  const Program& program_;
  Uses uses_;
  std::map<ValueId, ValueId> dot_of_sum_;
  std::set<ValueId> moved_;
};

/// Makes a product of f32 that only a sum or a difference takes one operation with it.
class ContractSums {
 public:
  explicit ContractSums(const Program& program) : program_(program), uses_(program) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    const Binary* sum = std::get_if<Binary>(&inst.op);
    if (sum == nullptr || (sum->fn != BinaryFn::add && sum->fn != BinaryFn::sub)) return false;
    const bool minus = sum->fn == BinaryFn::sub;
    for (bool first : {true, false}) {
      const Binary* product = product_of(first ? sum->a : sum->b, inst);
      if (product == nullptr) continue;
      Fma fma{r.map(product->a), r.map(product->b), r.map(first ? sum->b : sum->a)};
      if (minus) negate(r, first ? fma.c : fma.a, first ? sum->b : product->a, inst.loc);
      r.replace(inst.result(), r.emit(fma, program_.type(inst.result()), inst.loc));
      return true;
    }
    return false;
  }

 private:
  /// The product that a value is, where the sum is the only one to take it and has its axes.
  const Binary* product_of(ValueId id, const Inst& sum) const {
    const Binary* product = std::get_if<Binary>(&uses_.definer(id).op);
    bool fits = product != nullptr && product->fn == BinaryFn::mul && program_.type(id).dtype == f32 &&
                uses_.users(id).size() == 1 && uses_.loop_of(id) == uses_.loop_of(sum.result()) &&
                same_axes(program_.type(id).axes, program_.type(sum.result()).axes);
    return fits ? product : nullptr;
  }

  void negate(Rewriter& r, ValueId& mapped, ValueId old, Loc loc) const {
    const Constant* constant = std::get_if<Constant>(&uses_.definer(old).op);
    Op minus = constant != nullptr ? Op(Constant{-constant->value}) : Op(Unary{UnaryFn::neg, mapped});
    mapped = r.emit(std::move(minus), program_.type(old), loc);
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
    // What fills an undefined tile does so in place: each has its own.
    if (!is_pure(inst.op) || std::holds_alternative<Undefined>(inst.op)) return false;
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
  Program fused = rewrite(shared, FuseAccumulators(shared));
  return remove_unused(rewrite(fused, ContractSums(fused)));
}

}  // namespace tessera
