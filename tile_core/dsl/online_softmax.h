#pragma once
#include <optional>

#include "tile_core/dsl/builder.h"

namespace tessera::dsl {

/// What the weights of a softmax are relative to. `exact`: the largest score so far, whose weight is 1.
/// `lazy`: an earlier largest score, until another weighs more than 2^8: it rises seldom, and sums stand for
/// longer. Its price: the largest weight is rounded like all others where weights are cast to 16 bits, which
/// on random scores made the largest error of attention 1.3 to 1.8 times that of `exact`.
enum class Maximum { exact, lazy };

/// The running maximum and sum of a softmax whose scores arrive tile by tile (Milakov and Gimelshein, arXiv
/// 1805.02867). A row whose scores are all -inf gives weights 0, inverse_total 0 and logsumexp -inf.
class OnlineSoftmax {
 public:
  OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, Maximum maximum = Maximum::exact,
                Loc loc = Loc::here());
  /// The same of scores that are `scale` times what they are given as: a positive scalar, which costs nothing
  /// here. Times log2(e) the largest must still be a float. Throws UserError where it has axes or is no
  /// float.
  OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, const Tile& scale,
                Maximum maximum = Maximum::exact, Loc loc = Loc::here());

  /// exp(scores - maximum) after taking the tile's scores along `axis` into account. Throws UserError where
  /// they are no floats over the rows and this axis.
  Tile weights(const Operand& scores, const Axis& axis, Loc loc = Loc::here());
  /// The same for scores that have been taken into account. Throws UserError before the first weights().
  Tile weights_so_far(const Operand& scores, Loc loc = Loc::here()) const;
  /// What earlier sums must be multiplied by after the last weights(); 1 where the maximum did not rise.
  Tile keep() const { return {&keep_.tracer(), keep_.id()}; }
  /// The sum of the weights so far, all relative to the maximum.
  Tile total() const { return {&total_.tracer(), total_.id()}; }
  /// 1 / total, or 0 where that is 0.
  Tile inverse_total(Loc loc = Loc::here()) const;
  /// The natural logarithm of the sum of exp(scores).
  Tile logsumexp(Loc loc = Loc::here()) const;

 private:
  /// `axis` is none where any axes may stand beside the rows.
  void check_scores(const Operand& scores, AxisId axis, Loc loc) const;
  /// weights_so_far(), of scores that fit.
  Tile relative(const Operand& scores, Loc loc) const;
  /// The maximum once a tile came whose rows have these largest scores.
  Tile risen(const Tile& largest, Loc loc) const;
  /// What a row's scaled scores are reduced by: their maximum, or 0 where a row has seen no key. -inf -
  /// (-inf) is NaN: the row's value is guarded, never the element.
  Tile shift(Loc loc) const;
  Tile scaled(const Operand& x, Loc loc) const;
  Tile exponential(const Operand& difference, Loc loc) const;

  std::optional<Tile>
      scale_;  ///< times log2(e): exp2 is what the hardware has, and takes it in one operation
  Maximum maximum_;
  Var top_;  ///< the maximum, scaled
  Var total_;
  Var keep_;
  bool has_scores_ = false;  ///< weights() has been traced
};

}  // namespace tessera::dsl
