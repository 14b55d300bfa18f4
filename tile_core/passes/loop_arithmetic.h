#pragma once
#include "tile_core/ir/rewrite.h"

namespace tessera {

/// Index arithmetic around a loop that is being rewritten.
class LoopArithmetic {
 public:
  LoopArithmetic(Rewriter& r, const Inst& inst)
      : r_(r), loc_(inst.loc), extent_(r.in().axis(std::get<Loop>(inst.op).axis).extent) {}

  ValueId constant(std::int64_t value) { return emit(Constant{static_cast<double>(value)}); }
  ValueId add(ValueId a, ValueId b) { return emit(Binary{BinaryFn::add, a, b}); }
  ValueId sub(ValueId a, ValueId b) { return emit(Binary{BinaryFn::sub, a, b}); }
  ValueId less(ValueId a, ValueId b) { return r_.emit(Binary{BinaryFn::lt, a, b}, {.dtype = boolean}, loc_); }

  /// The start and the ticket of the next iteration, of the one before, and of the last of a loop that runs.
  struct Place {
    ValueId start{}, ticket{};
  };
  Place after(Place place) { return {add(place.start, constant(extent_)), add(place.ticket, constant(1))}; }
  Place before(Place place) { return {sub(place.start, constant(extent_)), sub(place.ticket, constant(1))}; }
  Place last(Place first, ValueId end) {
    ValueId up = add(sub(end, first.start), constant(extent_ - 1));
    ValueId passed = sub(emit(Binary{BinaryFn::div, up, constant(extent_)}), constant(1));
    return {add(first.start, emit(Binary{BinaryFn::mul, passed, constant(extent_)})),
            add(first.ticket, passed)};
  }

 private:
  ValueId emit(Op op) { return r_.emit(std::move(op), {.dtype = i64}, loc_); }

  Rewriter& r_;
  Loc loc_;
  int extent_;
};

}  // namespace tessera
