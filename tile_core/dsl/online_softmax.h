#pragma once
#include "tile_core/dsl/builder.h"

namespace tessera::dsl {

/// The running maximum and sum of a softmax whose scores arrive tile by tile (Milakov and Gimelshein, arXiv
/// 1805.02867). Scores are in units of log2: multiply by log2(e) together with the scale. A row whose scores
/// are all -inf gives weights 0, inverse_total 0 and logsumexp -inf.
class OnlineSoftmax {
 public:
  OnlineSoftmax(Builder& builder, std::initializer_list<Axis> rows, Loc loc = Loc::here());

  /// exp2(scores - running maximum) after taking the tile's scores along `axis` into account.
  Tile weights(const Operand& scores, const Axis& axis, Loc loc = Loc::here());
  /// What earlier sums must be multiplied by after the last weights().
  Tile keep() const { return {&keep_.tracer(), keep_.id()}; }
  /// 1 / the sum of all weights, or 0 where there is none.
  Tile inverse_total(Loc loc = Loc::here()) const;
  /// The natural logarithm of the sum of exp(natural scores).
  Tile logsumexp(Loc loc = Loc::here()) const;

 private:
  Var top_;
  Var total_;
  Var keep_;
};

}  // namespace tessera::dsl
