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

  /// Whether no tile at the first subscripts has a place in common with one at the second, whichever blocks
  /// and iterations store them. False where nobody knows.
  bool never_meet(const std::vector<Subscript>& first, const std::vector<Subscript>& second) const;

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

  /// Indices of a dim, the last one excluded.
  struct Range {
    double first = 0;
    double last = 0;
  };
  std::optional<Range> range(const Subscript& subscript) const;
  bool apart(const Subscript& a, const Subscript& b) const;
  bool follows(const Subscript& second, const Subscript& first) const;
  bool differ(ValueId a, ValueId b) const;
  bool is_multiple(ValueId id, int of) const;
  /// A scalar as another one and a number.
  struct Sum {
    ValueId base = ValueId::none;  ///< none: 0
    double number = 0;
  };
  Sum sum_of(ValueId id) const;
  std::optional<double> most_above(ValueId id, ValueId base) const;

  const Program& p_;
  const Origins& origins_;
  Uses uses_;
  std::map<AxisId, const Loop*> loops_;
};

}  // namespace tessera::dsl
