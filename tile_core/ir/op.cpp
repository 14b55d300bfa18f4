#include "tile_core/ir/op.h"

#include <array>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera {

const char* name_of(UnaryFn fn) {
  constexpr std::array kNames = {"neg",   "abs",  "exp",       "exp2", "log",  "log2",       "sqrt",
                                 "rsqrt", "tanh", "fast_tanh", "erf",  "erfc", "logical_not"};
  return kNames.at(static_cast<std::size_t>(fn));
}

const char* name_of(BinaryFn fn) {
  constexpr std::array kNames = {"add", "sub", "mul", "rescale", "div", "mod",         "max",
                                 "min", "lt",  "le",  "eq",      "ne",  "logical_and", "logical_or"};
  return kNames.at(static_cast<std::size_t>(fn));
}

const char* name_of(ReduceFn fn) {
  constexpr std::array kNames = {"sum", "max", "min"};
  return kNames.at(static_cast<std::size_t>(fn));
}

const char* name_of(CopyKind kind) {
  constexpr std::array kNames = {"copy", "copy_realigned", "copy_async", "copy_bulk"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const char* name_of(SlotStep step) {
  constexpr std::array kNames = {"acquire", "commit", "wait", "release", "skip"};
  return kNames.at(static_cast<std::size_t>(step));
}

const char* name_of(Precision precision) {
  constexpr std::array kNames = {"ieee", "tf32", "tf32x3"};
  return kNames.at(static_cast<std::size_t>(precision));
}

bool compares(BinaryFn fn) {
  return fn == BinaryFn::lt || fn == BinaryFn::le || fn == BinaryFn::eq || fn == BinaryFn::ne;
}

double identity(ReduceFn fn, DType dtype) {
  double least = -std::numeric_limits<double>::infinity(), greatest = -least;
  if (dtype == i64) least = -0x1p63, greatest = 0x1p63;
  if (dtype == i32) least = -0x1p31, greatest = 0x1p31 - 1;
  switch (fn) {
    case ReduceFn::sum:
      return 0;
    case ReduceFn::max:
      return least;
    case ReduceFn::min:
      return greatest;
  }
  throw InternalError::format("no identity of reduction {}", static_cast<int>(fn));
}

bool is_pointwise(const Op& op) {
  return holds_any<Broadcast, Unary, Binary, Fma, Select, Cast>(op);
}

bool is_predicate(const Op& op) {
  return holds_any<Index, Size, Constant, Broadcast, Binary>(op);
}

bool is_pure(const Op& op) {
  return is_pointwise(op) ||
         holds_any<Constant, Scalar, Size, Index, Start, End, BlockIndex, BlockCount, ClusterIndex,
                   ClusterCount, ClusterRank, Undefined, Slice, View, Reduce, Dot, Load, Convert, ReduceWarp>(
             op);
}

}  // namespace tessera
