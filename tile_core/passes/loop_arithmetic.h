#pragma once
#include "tile_core/ir/rewrite.h"

namespace tessera {

/// Index arithmetic around a loop that is being rewritten.
class LoopArithmetic {
 public:
  LoopArithmetic(Rewriter& r, const Inst& inst)
      : r_(r), loc_(inst.loc), extent_(r.in().axis(std::get<Loop>(inst.op).axis).extent) {}

  ValueId constant(std::int64_t value) { return r_.constant(value, loc_); }
  ValueId add(ValueId a, ValueId b) { return r_.arithmetic(BinaryFn::add, a, b, loc_); }
  ValueId sub(ValueId a, ValueId b) { return r_.arithmetic(BinaryFn::sub, a, b, loc_); }
  ValueId less(ValueId a, ValueId b) { return r_.less(a, b, loc_); }

  /// The start and the ticket of the next iteration, of the one before, and of the last of a loop that runs.
  struct Place {
    ValueId start{}, ticket{};
  };
  Place after(Place place) { return {add(place.start, constant(extent_)), add(place.ticket, constant(1))}; }
  Place before(Place place) { return {sub(place.start, constant(extent_)), sub(place.ticket, constant(1))}; }
  Place last(Place first, ValueId end) {
    ValueId up = add(sub(end, first.start), constant(extent_ - 1));
    ValueId passed = sub(r_.arithmetic(BinaryFn::div, up, constant(extent_), loc_), constant(1));
    return {add(first.start, r_.arithmetic(BinaryFn::mul, passed, constant(extent_), loc_)),
            add(first.ticket, passed)};
  }

 private:
  Rewriter& r_;
  Loc loc_;
  int extent_;
};

}  // namespace tessera
