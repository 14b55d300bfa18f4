#include "tile_core/ir/partial_sum.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

/// One carried value of a loop.
class Candidate {
 public:
  Candidate(const Program& program, const Inst& loop, std::size_t index, const Uses& uses)
      : program_(program), loop_(std::get<Loop>(loop.op)), uses_(uses), parameter_(loop_.parameters[index]) {
    const ValueId sum = loop_.body.yields[index];
    if (!starts_at_zero(loop_.carried[index]) || !is_passed_on_only(sum, loop)) return;
    const ValueId added = added_to(sum);
    if (added == ValueId::none || !is_taken_once(added) || !is_of_body(added)) return;
    const Inst& definer = uses_.definer(added);
    const auto* reduce = std::get_if<Reduce>(&definer.op);
    if (reduce == nullptr || reduce->fn != ReduceFn::sum) return;
    if (program_.type(added).layout == program_.type(parameter_).layout) found_ = &definer;
  }
  const Inst* reduce() const { return found_; }

 private:
  bool starts_at_zero(ValueId id) const {
    const auto* zero = std::get_if<Constant>(&uses_.definer(id).op);
    return zero != nullptr && zero->value == 0 && !program_.type(id).axes.empty();
  }
  bool is_taken_once(ValueId id) const { return uses_.users(id).size() == 1; }
  bool is_of_body(ValueId id) const {
    const Inst* definer = &uses_.definer(id);
    return std::any_of(loop_.body.insts.begin(), loop_.body.insts.end(),
                       [&](const Inst& inst) { return &inst == definer; });
  }
  bool is_passed_on_only(ValueId id, const Inst& loop) const {
    return is_taken_once(id) && uses_.users(id).front() == &loop && is_of_body(id);
  }
  /// Whether a factor is known to be at most 1, as an online softmax' is: exp2 of a - s, or of a positive
  /// multiple, where s is max(a, b), or 0 where a condition holds. One that may be infinite makes NaN of a
  /// lane that has 0.
  bool is_at_most_one(ValueId id) const {
    const auto* power = std::get_if<Unary>(&uses_.definer(id).op);
    if (power == nullptr || power->fn != UnaryFn::exp2) return false;
    const auto* difference = std::get_if<Binary>(&uses_.definer(power->a).op);
    if (difference != nullptr && difference->fn == BinaryFn::mul && is_positive(difference->b))
      difference = std::get_if<Binary>(&uses_.definer(difference->a).op);
    if (difference == nullptr || difference->fn != BinaryFn::sub) return false;
    ValueId largest = difference->b;
    if (const auto* guarded = std::get_if<Select>(&uses_.definer(largest).op)) {
      if (!is_guard_of(*guarded)) return false;
      largest = guarded->b;
    }
    const auto* max = std::get_if<Binary>(&uses_.definer(largest).op);
    return max != nullptr && max->fn == BinaryFn::max && (max->a == difference->a || max->b == difference->a);
  }
  bool is_positive(ValueId id) const {
    const auto* number = std::get_if<Constant>(&uses_.definer(id).op);
    return number != nullptr && number->value > 0;
  }
  /// 0 in place of a largest value of -inf.
  bool is_guard_of(const Select& o) const {
    const auto* zero = std::get_if<Constant>(&uses_.definer(o.a).op);
    const auto* equal = std::get_if<Binary>(&uses_.definer(o.condition).op);
    if (zero == nullptr || zero->value != 0 || equal == nullptr || equal->fn != BinaryFn::eq) return false;
    const auto* infinity = std::get_if<Constant>(&uses_.definer(equal->b).op);
    return equal->a == o.b && infinity != nullptr &&
           infinity->value == -std::numeric_limits<double>::infinity();
  }
  /// Whether a value is what the loop carries, scaled or not, and is so only here.
  bool is_carried(ValueId id) const {
    if (id == parameter_) return is_taken_once(id);
    const auto* product = std::get_if<Binary>(&uses_.definer(id).op);
    if (product == nullptr || product->fn != BinaryFn::mul || !is_taken_once(id)) return false;
    return is_scaled(product->a, product->b);
  }
  /// Whether one is the carried value, taken only here, and the other scales it.
  bool is_scaled(ValueId a, ValueId b) const {
    if ((a == parameter_) == (b == parameter_) || !is_taken_once(parameter_)) return false;
    return is_at_most_one(a == parameter_ ? b : a);
  }
  /// What `sum` adds to the carried value.
  ValueId added_to(ValueId sum) const {
    const Op& op = uses_.definer(sum).op;
    if (const auto* fma = std::get_if<Fma>(&op)) {
      return is_scaled(fma->a, fma->b) && fma->c != parameter_ ? fma->c : ValueId::none;
    }
    const auto* add = std::get_if<Binary>(&op);
    if (add == nullptr || add->fn != BinaryFn::add) return ValueId::none;
    if (is_carried(add->a)) return add->b;
    return is_carried(add->b) ? add->a : ValueId::none;
  }

  const Program& program_;
  const Loop& loop_;
  const Uses& uses_;
  ValueId parameter_;
  const Inst* found_ = nullptr;
};

}  // namespace

std::vector<PartialSum> partial_sums(const Program& program, const Inst& loop, const Uses& uses) {
  std::vector<PartialSum> found;
  const std::size_t count = std::get<Loop>(loop.op).parameters.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Candidate candidate(program, loop, i, uses);
    if (candidate.reduce() != nullptr) found.push_back({candidate.reduce(), loop.results[i]});
  }
  return found;
}

}  // namespace tessera
