#pragma once
#include "tile_core/ir/op.h"

namespace tessera {

/// The types of an index, and of a condition on indices.
inline const Type kIndex{.dtype = i64};
inline const Type kCondition{.dtype = boolean};

/// Scalar arithmetic on indices, by whatever emits it: `Emitter::emit(Op, Type, Loc)`.
template <typename Emitter>
class IndexArithmetic {
 public:
  ValueId constant(std::int64_t value, Loc loc = {}) {
    return self().emit(Constant{static_cast<double>(value)}, kIndex, loc);
  }
  ValueId arithmetic(BinaryFn fn, ValueId a, ValueId b, Loc loc = {}) {
    return self().emit(Binary{fn, a, b}, kIndex, loc);
  }
  ValueId less(ValueId a, ValueId b, Loc loc = {}) {
    return self().emit(Binary{BinaryFn::lt, a, b}, kCondition, loc);
  }

 private:
  Emitter& self() { return static_cast<Emitter&>(*this); }
};

}  // namespace tessera
