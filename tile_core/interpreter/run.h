#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tile_core/base/tensor_view.h"
#include "tile_core/ir/program.h"

namespace tessera::interpreter {

/// The elements of a tile, dense over its type's axes in their order, the last fastest.
using Elements = std::vector<double>;

/// A tile that some value or slot holds.
struct Tile {
  const std::vector<AxisId>& axes;
  const Elements& elements;
};

/// Of the axis `of`, the lanes index * extent(to), ..., seen as the lanes of the axis `to`; of no axis:
/// everything.
struct Section {
  AxisId of = AxisId::none;
  AxisId to = AxisId::none;
  std::int64_t index = 0;
};

/// Index arithmetic between tiles, made once for every pair of lists of axes.
class Alignments {
 public:
  explicit Alignments(const Program& program) : program_(program) {}

  /// For every element of a tile over `to`, the index of the element of a tile over `from` with the same
  /// coordinates; along axes that only `from` has, the first.
  const std::vector<int>& get(const std::vector<AxisId>& to, const std::vector<AxisId>& from);
  /// The same for a tile over `to` that is a section of the tile over `from`.
  std::vector<int> get(const std::vector<AxisId>& to, const std::vector<AxisId>& from,
                       const Section& section);
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

struct IssuedDot;

/// What a value holds: elements, or the dot that will give them.
struct Value {
  Elements elements;
  std::shared_ptr<IssuedDot> pending;
  const Inst* writer = nullptr;  ///< that last wrote its registers
  std::int64_t written = 0;      ///< when, in steps of its instance
};

/// The registers of whoever runs: every value, and where the axes start.
struct Frame {
  explicit Frame(const Program& program) : values(program.types.size()), starts(program.axes.size(), 0) {}

  std::vector<Value> values;         // by id
  std::vector<std::int64_t> starts;  // by axis
  std::int64_t block = 0;            // the number of the block
};

/// One call of a program: what all blocks see, and the frame of who runs.
class Run {
 public:
  /// Binds the dims; throws UserError where the arguments do not fit the declarations. A persistent program
  /// has at most `resident` blocks.
  Run(const Program& program, std::vector<TensorView> tensors, std::vector<double> scalars,
      std::int64_t resident);

  const Program& program;
  const std::vector<TensorView> tensors;
  const std::vector<double> scalars;
  std::vector<std::int64_t> sizes;  ///< by dim
  Alignments alignments;

  /// Blocks of the launch; those of one that is not persistent stand for tiles of the slowest axis first.
  std::int64_t blocks() const;
  /// Blocks of a cluster: their numbers follow each other.
  int cluster() const { return program.launch.cluster.blocks; }
  /// The number of draws before, of so many; then this counts as one.
  std::int64_t draw(std::int64_t draws);
  /// Where the counter stands: at 0 again once there have been as many draws as there should be.
  std::int64_t drawn() const { return drawn_; }
  /// From here on the values are those of this frame.
  void use(Frame& frame) { frame_ = &frame; }
  /// Begins a block in this frame; while starts are implied, sets those of the grid.
  void enter_block(std::int64_t number);
  std::int64_t block() const { return frame_->block; }

  const Type& type(ValueId id) const { return program.type(id); }
  Value& at(ValueId id) { return frame_->values[index_of(id)]; }
  Elements& value(ValueId id) { return at(id).elements; }
  Tile tile(ValueId id) { return {type(id).axes, value(id)}; }
  /// The tile with its axes in this order.
  Elements arranged(const std::vector<AxisId>& axes, const Tile& tile);
  /// Throws UserError where it is an integer that nobody knows.
  std::int64_t scalar(ValueId id);
  std::size_t elements(ValueId id) const {
    return static_cast<std::size_t>(tessera::elements(program, type(id)));
  }

  /// The first index of an axis: the given value where there is one, else as its loop or the grid implies.
  /// Remembers it.
  std::int64_t start(AxisId axis, ValueId value);
  void set_start(AxisId axis, std::int64_t start) { frame_->starts[index_of(axis)] = start; }
  /// The lanes that a reduction sees: the valid ones, and from Stage::masked on all.
  Lanes seen(AxisId axis) const;

 private:
  void bind(const TensorDecl& declared, const TensorView& given);
  std::int64_t tiles(AxisId axis) const;

  std::int64_t resident_;
  std::int64_t drawn_ = 0;  // the counter
  Frame* frame_ = nullptr;
};

}  // namespace tessera::interpreter
