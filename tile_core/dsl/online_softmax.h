#pragma once
#include "tile_core/dsl/builder.h"

namespace tessera::dsl {

/// The running maximum and sum of a softmax whose scores arrive tile by tile (Milakov and Gimelshein, arXiv
/// 1805.02867). Scores are what the exponential function is taken of, scaled already; the weights' exp2
/// multiplies with log2(e) itself. A row whose scores are all -inf gives weights 0, inverse_total 0 and
/// logsumexp -inf.
class OnlineSoftmax {
 public:
  OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, Loc loc = Loc::here());

  /// exp(scores - running maximum) after taking the tile's scores along `axis` into account.
  Tile weights(const Operand& scores, const Axis& axis, Loc loc = Loc::here());
  /// What earlier sums must be multiplied by after the last weights().
  Tile keep() const { return {&keep_.tracer(), keep_.id()}; }
  /// The sum of the weights so far, all relative to the maximum.
  Tile total() const { return {&total_.tracer(), total_.id()}; }
  /// 1 / total, or 0 where that is 0.
  Tile inverse_total(Loc loc = Loc::here()) const;
  /// The largest score so far.
  Tile maximum() const { return {&top_.tracer(), top_.id()}; }
  /// The natural logarithm of the sum of exp(scores).
  Tile logsumexp(Loc loc = Loc::here()) const;

 private:
  Var top_;
  Var total_;
  Var keep_;
};

}  // namespace tessera::dsl
