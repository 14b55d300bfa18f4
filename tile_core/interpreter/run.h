#pragma once
#include <map>
#include <utility>
#include <vector>

#include "tile_core/base/tensor_view.h"
#include "tile_core/ir/program.h"

namespace tessera::interpreter {

/// The elements of a tile, dense over its type's axes in their order, the last fastest.
using Elements = std::vector<double>;

/// Index arithmetic between tiles, made once for every pair of lists of axes.
class Alignments {
 public:
  explicit Alignments(const Program& program) : program_(program) {}

  /// For every element of a tile over `to`, the index of the element of a tile over `from` with the same
  /// coordinates; along axes that only `from` has, the first.
  const std::vector<int>& get(const std::vector<AxisId>& to, const std::vector<AxisId>& from);
  /// Elements of a tile over `axes` from one lane of `axis` to the next.
  int stride(const std::vector<AxisId>& axes, AxisId axis) const;

 private:
  const Program& program_;
  std::map<std::pair<std::vector<AxisId>, std::vector<AxisId>>, std::vector<int>> cache_;
};

/// A range of lanes: first up to, but without, last.
struct Lanes {
  int first = 0;
  int last = 0;
};

/// One call of a program: what all blocks see, and the state of the block that runs.
class Run {
 public:
  /// Binds the dims; throws UserError where the arguments do not fit the declarations.
  Run(const Program& program, std::vector<TensorView> tensors, std::vector<double> scalars);

  const Program& program;
  const std::vector<TensorView> tensors;
  const std::vector<double> scalars;
  std::vector<std::int64_t> sizes;  ///< by dim
  Alignments alignments;
  std::vector<Elements> values;  ///< by value
  std::int64_t block = 0;        ///< its number

  /// Blocks of the grid: tiles of the slowest axis first.
  std::int64_t blocks() const;
  /// Forgets the last block; while starts are implied, sets those of the grid.
  void enter_block(std::int64_t number);

  const Type& type(ValueId id) const { return program.type(id); }
  Elements& value(ValueId id) { return values[index_of(id)]; }
  /// Throws UserError where it is an integer that nobody knows.
  std::int64_t scalar(ValueId id) const;
  std::size_t elements(ValueId id) const {
    return static_cast<std::size_t>(tessera::elements(program, type(id)));
  }

  /// The first index of an axis: the given value where there is one, else as its loop or the grid implies.
  /// Remembers it.
  std::int64_t start(AxisId axis, ValueId value);
  void set_start(AxisId axis, std::int64_t start) { starts_[index_of(axis)] = start; }
  /// The lanes that a reduction sees: the valid ones, and from Stage::masked on all.
  Lanes seen(AxisId axis) const;

 private:
  void bind(const TensorDecl& declared, const TensorView& given);
  std::int64_t tiles(AxisId axis) const;

  std::vector<std::int64_t> starts_;  // by axis
};

}  // namespace tessera::interpreter
