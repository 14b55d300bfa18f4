#pragma once
#include <map>
#include <optional>
#include <vector>

#include "tile_core/dsl/origins.h"
#include "tile_core/ir/uses.h"

namespace tessera::dsl {

/// Which places of a tensor the blocks of a grid store to.
class Places {
 public:
  Places(const Program& program, const Origins& origins);

  /// The axes whose tiles the subscripts of a store tell apart: no two tiles of such an axis have a place in
  /// common. A loop's axis may be among them.
  AxisSet told_apart(const std::vector<Subscript>& subscripts) const;

 private:
  /// How much a scalar grows from one tile of an axis to the next, everything else equal.
  struct Growth {
    double least = 0;
    double most = 0;
  };
  Growth growth(ValueId id, AxisId axis) const;
  Growth growth_of(AxisId other, AxisId axis) const;
  Growth growth_of(const Binary& op, AxisId axis) const;
  std::optional<double> number(ValueId id) const;
  bool same(ValueId a, ValueId b) const;
  std::vector<Subscript> with_quotients(std::vector<Subscript> subscripts) const;
  bool tells_apart(const Subscript& subscript, AxisId axis) const;
  std::optional<double> most_above(ValueId id, ValueId base) const;

  const Program& p_;
  const Origins& origins_;
  Uses uses_;
  std::map<AxisId, const Loop*> loops_;
};

}  // namespace tessera::dsl
