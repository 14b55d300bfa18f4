#include "tile_core/dsl/online_softmax.h"

#include <numbers>

#include "tile_core/dsl/math.h"

namespace tessera::dsl {
namespace {

/// exp(a - b): the difference is taken first, so that a large common offset costs no digits.
Tile exp_of_difference(const Operand& a, const Operand& b, Loc loc) {
  Tile difference = binary(BinaryFn::sub, a, b);
  return exp2({binary(BinaryFn::mul, {difference, loc}, {std::numbers::log2e, loc}), loc});
}

}  // namespace

OnlineSoftmax::OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, Loc loc)
    : top_(builder.full(f32, rows, -inf, loc)),
      total_(builder.zeros(f32, rows, loc)),
      keep_(builder.zeros(f32, rows, loc)) {}

Tile OnlineSoftmax::weights(const Operand& scores, const Axis& axis, Loc loc) {
  Tile top = max({top_, loc}, {reduce_max(scores, axis, loc), loc});
  // -inf - (-inf) is NaN: a row that has seen no key is shifted by 0. The row's value is guarded, never the
  // element.
  Tile shift = where({binary(BinaryFn::eq, {top, loc}, {-inf, loc}), loc}, {0, loc}, {top, loc});
  keep_ = Operand(exp_of_difference({top_, loc}, shift, loc), loc);
  Tile weights = exp_of_difference(scores, shift, loc);
  Tile sum = reduce_sum({weights, loc}, axis, loc);
  Tile kept = binary(BinaryFn::mul, {total_, loc}, {keep_, loc});
  total_ = Operand(binary(BinaryFn::add, {kept, loc}, {sum, loc}), loc);
  top_ = Operand(top, loc);
  return weights;
}

Tile OnlineSoftmax::inverse_total(Loc loc) const {
  Operand total(total_, loc);
  Tile inverse = binary(BinaryFn::div, {1, loc}, total);
  return where({binary(BinaryFn::eq, total, {0, loc}), loc}, {0, loc}, {inverse, loc});
}

Tile OnlineSoftmax::logsumexp(Loc loc) const {
  Tile log_total = log({total_, loc});
  return binary(BinaryFn::add, {top_, loc}, {log_total, loc});
}

}  // namespace tessera::dsl
