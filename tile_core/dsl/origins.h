#pragma once
#include <map>
#include <set>

#include "tile_core/ir/program.h"

namespace tessera::dsl {

using AxisSet = std::set<AxisId>;

/// Which axes of the grid and of loops decide the values of a program. A loop's axis comes with the axes that
/// its bounds come from.
class Origins {
 public:
  explicit Origins(const Program& program);

  AxisSet of_axis(AxisId axis) const;
  AxisSet of_value(ValueId id) const;
  AxisSet of(const Subscript& subscript) const;

 private:
  AxisSet of_operands(const Op& op) const;
  void block(const Block& block);
  void loop(const Inst& inst, const Loop& loop);

  const Program& p_;
  std::map<ValueId, AxisSet> values_;
  std::map<AxisId, AxisSet> loops_;
};

}  // namespace tessera::dsl
