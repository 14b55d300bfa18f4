#pragma once
#include <map>
#include <optional>
#include <set>

#include "tile_core/dsl/tracer.h"
#include "tile_core/ir/index_arithmetic.h"

namespace tessera::dsl {

/// The part of a loop in which a condition over indices can hold, as scalars that stand before the loop. Each
/// bound comes from comparisons in which the loop's index is a term of a sum, and from such joined by && and
/// ||; what else says is not known, and visited.
class LoopBounds : public IndexArithmetic<LoopBounds> {
 public:
  /// Of a loop whose body is closed, and which is not yet emitted.
  LoopBounds(Tracer& tracer, const Loop& loop, Loc loc);

  /// Moves the loop's begin and end together to where the condition can hold.
  void narrow(Loop& loop, ValueId condition);

  ValueId emit(Op op, Type type, Loc) { return tracer_.emit(std::move(op), std::move(type), loc_); }

 private:
  /// Of the loop's index; a bound that is missing is not known.
  struct Interval {
    std::optional<ValueId> begin, end;
  };
  Interval interval(ValueId condition);
  Interval compared(ValueId lower, ValueId upper, int distance);
  Interval bounded(ValueId sum, bool from_above, ValueId limit);
  Interval bounded(const Binary& sum, bool from_above, ValueId limit);

  std::optional<ValueId> extreme(ValueId tile, bool highest);
  std::optional<ValueId> extreme(const Binary& op, bool highest);
  ValueId extreme(const Index& index, bool highest);
  std::optional<ValueId> before_the_loop(ValueId scalar);

  template <typename Kind>
  const Kind* definer(ValueId id) const;
  const Type& type(ValueId id) const { return tracer_.program.type(id); }
  bool moves(ValueId id) const { return type(id).has(axis_); }  ///< from iteration to iteration

  Tracer& tracer_;
  AxisId axis_;
  Loc loc_;
  std::map<ValueId, Op> definers_;
  std::set<ValueId> inside_;  ///< what the body defines
};

}  // namespace tessera::dsl
