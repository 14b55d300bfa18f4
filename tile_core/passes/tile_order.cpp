#include "tile_core/passes/tile_order.h"

#include <algorithm>
#include <vector>

#include "tile_core/passes/dot_path.h"

namespace tessera {
namespace {

/// Of numbers of tiles: a launch has less than 2^31, and threads divide these faster, in half the registers.
const Type kCount{.dtype = i32};

/// Bytes that the tiles of a section share. Of the 50 MB of second-level cache of sm_90 (NVIDIA H100 Tensor
/// Core GPU Architecture, "H100 L2 cache"), what is left beside outputs and the next section: attention on an
/// H200 is fastest with 32 MB of keys and values.
constexpr std::int64_t kSectionBytes = std::int64_t{32} << 20;

/// Emits arithmetic on numbers of tiles, which are of a type.
class Emitter {
 public:
  Emitter(Rewriter& r, Type type) : r_(r), p_(r.in()), type_(std::move(type)) {}

 protected:
  ValueId constant(double value) { return r_.emit(Constant{value}, type_, {}); }
  ValueId binary(BinaryFn fn, ValueId a, ValueId b) { return r_.emit(Binary{fn, a, b}, type_, {}); }
  ValueId index(std::int64_t value) { return r_.constant(value); }
  ValueId index(BinaryFn fn, ValueId a, ValueId b) { return r_.arithmetic(fn, a, b); }
  ValueId size(DimId dim) { return r_.emit(Size{dim}, kIndex, {}); }
  /// An index as a number of tiles, and the other way.
  ValueId counted(ValueId index) { return cast(index, type_); }
  ValueId widened(ValueId number) { return cast(number, kIndex); }

  /// The number of positions along an axis: ceil(size / lanes). A position has one tile or, along the axis of
  /// clusters, one for each block of a cluster.
  ValueId tiles(AxisId axis, ValueId lanes) {
    ValueId sized = size(p_.axis(axis).dim);
    ValueId last = index(p_.cluster_lanes(axis) - 1);
    return counted(index(BinaryFn::div, index(BinaryFn::add, sized, last), lanes));
  }
  ValueId tiles(AxisId axis) { return tiles(axis, index(p_.cluster_lanes(axis))); }

  void set_position(AxisId axis, ValueId position) {
    set_position(axis, position, index(p_.cluster_lanes(axis)));
  }
  void set_position(AxisId axis, ValueId position, ValueId lanes) {
    ValueId start = index(BinaryFn::mul, widened(position), lanes);
    if (axis == p_.launch.cluster.axis) {
      ValueId extent = index(p_.axis(axis).extent);
      ValueId own = index(BinaryFn::mul, r_.emit(ClusterRank{}, kIndex, {}), extent);
      start = index(BinaryFn::add, start, own);
    }
    starts_[axis] = start;
  }

  /// Positions along axes, slowest first, from a number in the mixed radix of their tile counts.
  void split(ValueId number, const std::vector<AxisId>& axes) {
    for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
      ValueId lanes = index(p_.cluster_lanes(*it));
      ValueId position = number;
      if (std::next(it) != axes.rend()) {
        ValueId count = tiles(*it, lanes);
        position = binary(BinaryFn::mod, number, count);
        number = binary(BinaryFn::div, number, count);
      }
      set_position(*it, position, lanes);
    }
  }

  Rewriter& r_;
  const Program& p_;
  AxisStarts starts_;

 private:
  ValueId cast(ValueId id, const Type& type) { return type_ == kIndex ? id : r_.emit(Cast{id}, type, {}); }

  Type type_;
};

class PlainOrder : Emitter {
 public:
  explicit PlainOrder(Rewriter& r) : Emitter(r, kIndex) {}

  AxisStarts emit(ValueId number, int raster) {
    std::vector<AxisId> axes = p_.grid;
    if (raster > 1) {
      AxisId fast = axes.back(), slow = axes[axes.size() - 2];
      axes.resize(axes.size() - 2);
      ValueId rows = tiles(slow), columns = tiles(fast);
      ValueId in_band = number;
      if (!axes.empty()) {
        ValueId count = binary(BinaryFn::mul, rows, columns);
        in_band = binary(BinaryFn::mod, number, count);
        number = binary(BinaryFn::div, number, count);
      }
      bands(slow, fast, raster, {in_band, rows, columns});
    }
    split(number, axes);
    return starts_;
  }

 private:
  struct Numbers {
    ValueId number{}, rows{}, columns{};
  };
  /// Bands of rows of tiles, each walked down its rows first: blocks that run together share what they load.
  void bands(AxisId slow, AxisId fast, int raster, const Numbers& n) {
    const int in_cluster = p_.cluster_lanes(slow) / p_.axis(slow).extent;
    ValueId height = constant(std::max(1, raster / in_cluster));
    ValueId of_band = binary(BinaryFn::mul, height, n.columns);
    ValueId first = binary(BinaryFn::mul, binary(BinaryFn::div, n.number, of_band), height);
    ValueId rest = binary(BinaryFn::mod, n.number, of_band);
    ValueId left = binary(BinaryFn::min, height, binary(BinaryFn::sub, n.rows, first));
    ValueId row = binary(BinaryFn::add, first, binary(BinaryFn::mod, rest, left));
    ValueId column = binary(BinaryFn::div, rest, left);
    set_position(slow, row);
    set_position(fast, column);
  }
};

class LongestFirst : Emitter {
 public:
  LongestFirst(Rewriter& r, const Work& work, bool drawn)
      : Emitter(r, kCount), work_(work), drawn_(drawn), rows_(tiles(work.axis)) {
    for (AxisId axis : p_.grid) {
      if (axis == work_.axis) continue;
      others_.push_back(axis);
      ValueId count = tiles(axis);
      columns_ = columns_ == ValueId::none ? count : binary(BinaryFn::mul, columns_, count);
    }
  }

  AxisStarts emit(ValueId block) {
    ValueId position = counted(block);
    if (others_.empty()) {
      set_position(work_.axis, from_longest(drawn_ ? position : turned(position, rows_)));
      return starts_;
    }
    ValueId tile = drawn_ ? position : turned(position, binary(BinaryFn::mul, columns_, rows_));
    ValueId width = section();
    ValueId in_sections = binary(BinaryFn::mul, width, rows_);
    ValueId section = binary(BinaryFn::div, tile, in_sections);
    ValueId first = binary(BinaryFn::mul, section, width);
    ValueId in_section = rest(tile, section, in_sections);
    ValueId columns = binary(BinaryFn::min, width, binary(BinaryFn::sub, columns_, first));
    ValueId row = binary(BinaryFn::div, in_section, columns);
    ValueId column = binary(BinaryFn::add, first, rest(in_section, row, columns));
    set_position(work_.axis, drawn_ ? from_longest(row) : from_longest(row, later_sections(section, width)));
    split(column, others_);
    return starts_;
  }

 private:
  /// number mod divisor, where the quotient is known.
  ValueId rest(ValueId number, ValueId quotient, ValueId divisor) {
    return binary(BinaryFn::sub, number, binary(BinaryFn::mul, quotient, divisor));
  }

  /// The row of a number that counts from the longest on.
  ValueId from_longest(ValueId number) {
    if (!work_.grows) return number;
    return binary(BinaryFn::sub, binary(BinaryFn::sub, rows_, constant(1)), number);
  }
  /// The same in a section, from the shortest on where an odd number of sections comes later.
  ValueId from_longest(ValueId number, ValueId later) {
    if (work_.grows) later = binary(BinaryFn::add, later, constant(1));
    return mirrored_where_odd(later, number, rows_);
  }

  /// A number below `count`, counted from the other end where `turn` is odd.
  ValueId mirrored_where_odd(ValueId turn, ValueId number, ValueId count) {
    ValueId odd = binary(BinaryFn::mod, turn, constant(2));
    ValueId last = binary(BinaryFn::sub, count, constant(1));
    ValueId moved = binary(BinaryFn::sub, binary(BinaryFn::sub, last, number), number);
    return binary(BinaryFn::add, number, binary(BinaryFn::mul, odd, moved));
  }

  /// The number of the tile at a position. Steps are counted from the last, which is not turned and may be
  /// ragged: all others have a tile for every walker, so that each step is a permutation of its numbers.
  ValueId turned(ValueId position, ValueId count) {
    ValueId walkers = counted(r_.emit(walker_count(p_.launch.cluster), kIndex, {}));
    ValueId last = binary(BinaryFn::div, binary(BinaryFn::sub, count, constant(1)), walkers);
    ValueId step = binary(BinaryFn::div, position, walkers);
    ValueId first = binary(BinaryFn::mul, step, walkers);
    ValueId walker = binary(BinaryFn::sub, position, first);
    ValueId left = binary(BinaryFn::sub, last, step);
    return binary(BinaryFn::add, first, mirrored_where_odd(left, walker, walkers));
  }

  /// Sections after this one.
  ValueId later_sections(ValueId section, ValueId width) {
    ValueId last = binary(BinaryFn::div, binary(BinaryFn::sub, columns_, constant(1)), width);
    return binary(BinaryFn::sub, last, section);
  }

  /// Tiles of the other axes in a section.
  ValueId section() {
    if (work_.shared.empty()) return columns_;
    ValueId bytes = ValueId::none;
    for (const SharedLoad& load : work_.shared) {
      ValueId more = bytes_of(load);
      bytes = bytes == ValueId::none ? more : index(BinaryFn::add, bytes, more);
    }
    ValueId one = index(1), most = index(kSectionBytes);
    ValueId fit = counted(index(BinaryFn::div, most, index(BinaryFn::max, bytes, one)));
    ValueId least = constant(1);
    return binary(BinaryFn::min, binary(BinaryFn::max, fit, least), columns_);
  }

  /// Bytes that the tiles of one position along the other axes load: dims whole, but for the grid's.
  ValueId bytes_of(const SharedLoad& shared) {
    const Load& load = shared.load;
    std::int64_t bytes = size_of(p_.tensor(load.tensor).dtype);
    std::vector<DimId> whole;
    for (const Subscript& s : load.subscripts) {
      if (s.axis == AxisId::none) continue;
      const AxisInfo& axis = p_.axis(s.axis);
      if (axis.kind == AxisKind::grid) {
        bytes *= axis.extent;
      } else {
        whole.push_back(axis.dim);
      }
    }
    ValueId product = index(bytes);
    for (DimId dim : whole) product = index(BinaryFn::mul, product, size(dim));
    for (const Op& count : shared.neighbours)
      product = index(BinaryFn::div, product, r_.emit(count, kIndex, {}));
    return product;
  }

  const Work& work_;
  bool drawn_;
  std::vector<AxisId> others_;
  ValueId rows_;                     // tiles of the axis along which the work differs
  ValueId columns_ = ValueId::none;  // of all others together
};

}  // namespace

bool is_persistent(const Program& program, const PassContext& context) {
  return !program.grid.empty() && context.schedule.grid != Grid::once && uses_wgmma(program, context);
}

bool longest_first(const Program& program, const PassContext& context, const Work& work) {
  const Schedule& s = context.schedule;
  const bool asks_for_another = s.order == TileOrder::plain || s.raster != Schedule::kAutomatic;
  return work.axis != AxisId::none && !asks_for_another && is_persistent(program, context);
}

AxisStarts emit_plain_order(Rewriter& r, ValueId number, int raster) {
  return PlainOrder(r).emit(number, raster);
}

AxisStarts emit_longest_first(Rewriter& r, ValueId position, const Work& work, bool drawn) {
  return LongestFirst(r, work, drawn).emit(position);
}

}  // namespace tessera
