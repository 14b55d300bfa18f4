#pragma once
#include <optional>

#include "tile_core/ir/uses.h"
#include "tile_core/ir/varying.h"

namespace tessera {

/// Those that run a block side by side, numbered from 0: the instances of a role, or the blocks of a cluster.
struct Several {
  int count = 1;
  ValueId number = ValueId::none;  ///< each one's own; none: the rank in the cluster, which is an operation
};

/// What tells them apart. Where nothing says that it does, it does not.
class Apart {
 public:
  Apart(const Program& program, const Varying& varying, Several who)
      : p_(program), uses_(program), varying_(varying), who_(who) {}

  /// No two have the same value here, in one iteration of the loops around it.
  bool have(ValueId value) const;
  /// No iteration of one starts where one of another's does.
  bool iterate(const Loop& loop) const;
  /// At most one of them goes where the condition is `taken`.
  bool go_alone(ValueId condition, bool taken) const;

 private:
  /// A factor times a scalar that is the same in all of them; none: 1.
  struct Term {
    double factor = 0;
    ValueId unit = ValueId::none;
  };
  using MaybeTerm = std::optional<Term>;

  /// By how much the value grows from one to the next; none where that is no such term.
  MaybeTerm growth(ValueId id) const;
  MaybeTerm growth_of(const Binary& op) const;
  MaybeTerm times(ValueId varies, ValueId same) const;
  /// A scalar that is the same in all of them.
  Term term_of(ValueId id) const;
  /// The scalar of the one with this number, where constants alone say it.
  std::optional<double> of(int number, ValueId id) const;

  const Program& p_;
  Uses uses_;
  const Varying& varying_;
  Several who_;
};

}  // namespace tessera
