#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera {

/// How a value moves as the tile moves along the axes that it depends on.
struct Trend {
  enum class Direction : std::uint8_t { constant, up, down, unknown };

  Direction direction = Direction::constant;
  std::set<AxisId> axes;  ///< up and down are along the only one

  bool operator==(const Trend&) const = default;
};

/// The trend of every value of a program at Stage::tile, from its operations alone.
class Trends {
 public:
  explicit Trends(const Program& program);

  const Trend& of(ValueId id) const { return trends_.at(id); }
  /// Of the start of an axis.
  Trend of(AxisId axis) const;
  /// Of the number of a loop's iterations.
  Trend of(const Loop& loop) const;

 private:
  void inst(const Inst& inst);
  Trend result(const Op& op) const;
  Trend binary(const Binary& o) const;
  Trend any_of(const Op& op) const;

  const Program& p_;
  std::map<ValueId, Trend> trends_;
  std::map<ValueId, int> signs_;  // of the values that have the same one in every call
};

/// What tiles that differ in the unequal axis alone load in common.
struct SharedLoad {
  Load load;
  /// Constants, sizes or scalars of the call: so many neighbours along another axis load the same too.
  std::vector<Op> neighbours;
};

/// The grid axis along which the work of tiles grows or shrinks: the trips of loops do, and depend on no
/// other.
struct Work {
  AxisId axis = AxisId::none;  ///< none: all tiles have the same work, or nobody knows how it differs
  bool grows = false;
  std::vector<SharedLoad> shared;  ///< in those loops, one of each tensor
};
Work work_of(const Program& program);

}  // namespace tessera
