#pragma once
#include "tests/fuzz/expressions.h"

namespace tessera::fuzz {

/// Writes one random program: its axes, one of the forms, and outputs of what the form left.
class Author {
 public:
  Author(Choices& choices, bool wide) : c_(choices), wide_(wide), p_("fuzzed"), x_(choices, p_) {}

  /// Expressions over grid axes, with reductions over whole axes.
  void elementwise();
  /// Loops that carry sums, extremes and recurrences.
  void recurrences();
  /// One or two products that are summed up in a loop or two, and an epilogue.
  void products();
  /// A product that feeds another of the same iteration: attention, its gradients, and what is between.
  void chain();
  /// A loop in a loop.
  void nested();

  Program finish();

 private:
  using Axis = dsl::Axis;
  using Tile = dsl::Tile;

  /// Tiles of axes: of 64 rows for each warpgroup, of columns, of what is contracted.
  int rows_tile();
  int columns_tile();
  int depth_tile();
  Axis grid(int tile);
  /// A grid axis or one that covers its dim, for columns.
  Axis columns();
  Axis all(int tile);
  /// Another loop over the dim: whole, or from and to a middle.
  dsl::LoopRange loop(const dsl::Dim& dim, int tile);
  dsl::LoopRange loop(const dsl::Dim& dim, int tile, const dsl::Operand& begin, const dsl::Operand& end);

  /// An operand of a dot: loaded, or computed where the path of this program takes that.
  Tile operand(DType dtype, const Axes& axes, bool may_compute);
  /// a b over `axis`, either way round where the program is not for wgmma.
  Tile product(const Tile& a, const Tile& b, const Axis& axis);
  /// Adds a random sum, maximum or recurrence over the rows to the body of a loop over `axis`.
  void update(dsl::Var& state, const Real& x, const Axis& axis);
  Tile scores(const Axis& i, const Axis& j, const Axis& d, const Tile& query, DType dtype);

  /// Declares an output over the axes and those of the grid, and stores or adds an expression; `result`, over
  /// the same axes, is part of it.
  void store(const Axes& axes, int depth, const std::optional<Real>& result = {});
  /// The result, and up to two outputs over some of these axes.
  void store_outputs(const Axes& axes, const std::optional<Real>& result, const std::vector<Axes>& others,
                     int depth);
  /// With the axes of the grid; of what is added to, some of them.
  Axes with_grid(const Axes& axes, bool adds);

  Choices& c_;
  bool wide_;
  dsl::Builder p_;
  Expressions x_;
  Axes grid_;
  Axes covered_;
  int outputs_ = 0;
};

}  // namespace tessera::fuzz
