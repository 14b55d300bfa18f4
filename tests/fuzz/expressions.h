#pragma once
#include <list>
#include <optional>
#include <set>

#include "tests/fuzz/choices.h"
#include "tile_core/dsl/math.h"

namespace tessera::fuzz {

using Axes = std::vector<dsl::Axis>;

/// A f32 tile and what is known of its elements.
struct Real {
  dsl::Tile tile;
  double bound = 1;  ///< of their magnitude, roughly
  bool exact =
      false;  ///< no sum and no product made it: the passes may not change a bit, so it may be compared
};

/// Writes random expressions over random tensors of one program. They stay where no error grows: nothing near
/// 0 is divided by, nothing large exponentiated, and a comparison never depends on the last bit of a sum.
class Expressions {
 public:
  Expressions(Choices& choices, dsl::Builder& builder) : c_(choices), p_(builder) {}

  dsl::Dim dim();
  /// That of an axis, for a tensor that is declared over it.
  dsl::Dim dim_of(const dsl::Axis& axis);
  /// Declares a tensor over every dim that has none: a call's tensors say how large dims are.
  void use_all_dims();
  /// The grid gets another dim, of which each block has one index; some of the inputs are read at it.
  void add_batch();
  /// The subscript of every output then, and its dim.
  struct Batch {
    dsl::Dim dim;
    dsl::Tile index;
  };
  const std::optional<Batch>& batch() const { return batch_; }

  /// An input over the axes' dims in any order, read at the axes.
  dsl::Tile load(DType dtype, const Axes& axes);
  /// The same, of a dtype of floats, also with one more dim, a new one or an axis' own, at a scalar
  /// subscript.
  Real loaded(const Axes& axes);

  /// f32 over exactly these axes.
  Real real(const Axes& axes, int depth);
  /// The same of which `result`, over these axes, is part.
  Real with(const Real& result, const Axes& axes, int depth);
  /// i64.
  dsl::Tile integer(const Axes& axes, int depth);
  /// boolean, over all or some of these axes.
  dsl::Tile condition(const Axes& axes);
  /// Of magnitude at most 4.
  dsl::Tile bounded(const Real& x);

  /// An axis that later expressions reduce over.
  void reduce_over(const dsl::Axis& axis) { reduced_.push_back(axis); }
  void stop_reducing() { reduced_.pop_back(); }
  /// A value that later expressions use, until `forget` shrinks their number to an earlier one.
  void offer(Real value) { pool_.push_back(std::move(value)); }
  std::size_t offered() const { return pool_.size(); }
  void forget(std::size_t offered);

  /// A number of the call.
  dsl::Tile scalar(DType dtype);
  /// Some of the axes, all of them in the simplest case.
  Axes some_of(const Axes& axes);

 private:
  Real leaf(const Axes& axes);
  Real unary(const Real& x);
  Real binary(const Real& a, const Real& b);
  Real reduction(const Axes& axes, int depth);
  std::optional<Real> remembered(const Axes& axes);

  Choices& c_;
  dsl::Builder& p_;
  std::optional<Batch> batch_;
  std::list<Real> pool_;
  Axes reduced_;
  std::list<dsl::Dim> dims_;
  std::set<DimId> used_;
  int inputs_ = 0;
  int scalars_ = 0;
};

}  // namespace tessera::fuzz
