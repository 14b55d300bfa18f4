#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tile_core/dsl/tile.h"

namespace tessera::dsl {

/// A direction of tiles: `extent` lanes of a dim.
class Axis {
 public:
  Axis(Tracer* tracer, AxisId id) : tracer_(tracer), id_(id) {}

  Tracer& tracer() const { return *tracer_; }
  AxisId id() const { return id_; }
  const AxisInfo& info() const { return tracer_->program.axis(id_); }
  /// The index of every lane within the dim: i64[this axis].
  Tile index(Loc loc = Loc::here()) const;
  /// The index of the first lane, and of the one after the last: i64. A loop whose bound is made from the end
  /// of a grid's axis may stop sooner for a part of the tile's lanes, at the end of that part: as it would
  /// where the tiles were smaller.
  Tile start(Loc loc = Loc::here()) const;
  Tile end(Loc loc = Loc::here()) const;

 private:
  Tracer* tracer_;
  AxisId id_;
};

/// What stands between the parentheses of a tensor: an axis, or a scalar i64.
class Position {
 public:
  Position(const Axis& axis, Loc loc = Loc::here())
      : axis_(axis.id()), tracer_(&axis.tracer()), scalar_(0, loc) {}
  Position(const Tile& scalar, Loc loc = Loc::here()) : tracer_(&scalar.tracer()), scalar_(scalar, loc) {}
  Position(int scalar, Loc loc = Loc::here()) : scalar_(scalar, loc) {}

  AxisId axis() const { return axis_; }
  const Tracer* tracer() const { return tracer_; }  ///< null: a number
  const Operand& scalar() const { return scalar_; }
  Loc loc() const { return scalar_.loc(); }

 private:
  AxisId axis_ = AxisId::none;
  const Tracer* tracer_ = nullptr;
  Operand scalar_;
};

/// An input tensor. Reading outside of it gives 0.
class In {
 public:
  In(Tracer* tracer, TensorId id) : tracer_(tracer), id_(id) {}
  template <typename... Rest>
  Tile operator()(const Position& first, const Rest&... rest) const {
    return at({first, Position(rest, first.loc())...}, first.loc());
  }
  /// The same for a number of dims that only the program's arguments know.
  Tile at(const std::vector<Position>& positions, Loc loc = Loc::here()) const;

 private:
  Tracer* tracer_;
  TensorId id_;
};

/// An output tensor. out(m, n) = tile stores a tile, out(m, n) += tile adds one, and either drops what lies
/// outside the tensor; an output takes the one or the other.
///
/// A grid axis that decides what is stored has to decide where, each of its tiles another place: so do the
/// axis and index arithmetic on it, as in out(m.start() / 16, n) where its tiles have 16 lanes, but not a
/// loaded index. What no store reaches is undefined.
///
/// What is added to is f32 and 0 before the call, so that blocks may add to one place: a sum over a dim may
/// be split over the grid. Every tile is added once for each block and iteration that reaches the statement.
/// The order of the additions, and with it the rounding of a sum of three or more, is the device's: another
/// for every call; in the interpreter it is the same. Subnormal numbers may count as 0.
class Out {
 public:
  class Place {
   public:
    Place(Tracer* tracer, TensorId id, std::vector<Position> positions, Loc loc)
        : tracer_(tracer), id_(id), positions_(std::move(positions)), loc_(loc) {}
    void operator=(const Operand& value) &&;
    void operator+=(const Operand& value) &&;
    void operator=(const Place&) = delete;

   private:
    void write(const Operand& value, bool accumulate);

    Tracer* tracer_;
    TensorId id_;
    std::vector<Position> positions_;
    Loc loc_;
  };

  Out(Tracer* tracer, TensorId id) : tracer_(tracer), id_(id) {}
  template <typename... Rest>
  Place operator()(const Position& first, const Rest&... rest) const {
    return at({first, Position(rest, first.loc())...}, first.loc());
  }
  Place at(std::vector<Position> positions, Loc loc = Loc::here()) const {
    return Place(tracer_, id_, std::move(positions), loc);
  }

 private:
  Tracer* tracer_;
  TensorId id_;
};

/// The range of a traced loop: its body runs once, with the axis of the loop.
class LoopRange {
 public:
  class Iterator {
   public:
    explicit Iterator(LoopRange* range) : range_(range) {}
    Axis operator*() const { return range_->open(); }
    Iterator& operator++();
    bool operator!=(const Iterator&) const { return !range_->closed_; }

   private:
    LoopRange* range_;
  };

  LoopRange(Axis axis, ValueId begin, ValueId end, bool pipelined, Loc loc);
  LoopRange(const LoopRange&) = delete;
  LoopRange& operator=(const LoopRange&) = delete;
  ~LoopRange();
  Iterator begin();
  Iterator end() { return Iterator(this); }

 private:
  Axis open();

  Axis axis_;
  ValueId begin_;
  ValueId end_;
  bool pipelined_;
  Loc loc_;
  bool opened_ = false;
  bool closed_ = false;
};

/// Builds a Program by running a C++ function once. Every misuse throws a UserError that names the place in
/// that function.
class Builder {
 public:
  explicit Builder(std::string name, Loc loc = Loc::here()) : tracer_(std::move(name), loc) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Dim dim(std::string name, Loc loc = Loc::here());
  In in(std::string name, DType dtype, std::initializer_list<Dim> dims, Loc loc = Loc::here());
  Out out(std::string name, DType dtype, std::initializer_list<Dim> dims, Loc loc = Loc::here());
  In in(std::string name, DType dtype, const std::vector<Dim>& dims, Loc loc = Loc::here());
  Out out(std::string name, DType dtype, const std::vector<Dim>& dims, Loc loc = Loc::here());
  /// A number of the call: f32 or i64.
  Tile scalar(std::string name, DType dtype, Loc loc = Loc::here());

  /// Every tile of a dim is another block's. The first grid axis varies slowest over the blocks.
  Axis grid(const Dim& dim, int tile, Loc loc = Loc::here());
  /// Every index of a dim is another block's: the index itself, i64.
  Tile grid(const Dim& dim, Loc loc = Loc::here());
  /// One tile covers the whole dim, whose size is at most `tile`.
  Axis all(const Dim& dim, int tile, Loc loc = Loc::here());
  /// for (Axis k : p.pipelined(K, 32)) runs over the tiles of [begin, end) in order; iterations may overlap.
  /// Of the last tile the lanes from `end` on are seen, too, where they are inside the dim: compare k.index()
  /// with `end` where the tiles do not end there.
  LoopRange pipelined(const Dim& dim, int tile, Loc loc = Loc::here());
  LoopRange pipelined(const Dim& dim, int tile, const Operand& begin, const Operand& end);
  /// The same, but one iteration ends before the next begins.
  LoopRange sequential(const Dim& dim, int tile, Loc loc = Loc::here());
  LoopRange sequential(const Dim& dim, int tile, const Operand& begin, const Operand& end);

  Tile zeros(DType dtype, const std::vector<Axis>& axes, Loc loc = Loc::here());
  Tile full(DType dtype, const std::vector<Axis>& axes, const Number& value, Loc loc = Loc::here());

  Program finish() { return tracer_.finish(); }

 private:
  TensorId declare(std::string name, DType dtype, const std::vector<Dim>& dims, bool output, Loc loc);
  Axis axis(const Dim& dim, AxisKind kind, int tile, Loc loc);
  std::string fresh_axis_name(const Dim& dim) const;
  ValueId bound(const Operand& operand, const char* which);
  LoopRange loop(const Dim& dim, int tile, const Operand& begin, const Operand& end, bool pipelined);

  Tracer tracer_;
};

}  // namespace tessera::dsl
