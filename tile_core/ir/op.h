#pragma once
#include <variant>

#include "tile_core/base/loc.h"
#include "tile_core/base/match.h"
#include "tile_core/ir/device_op.h"
#include "tile_core/ir/tile_op.h"

/// The closed list of operations.
namespace tessera {

using Op = std::variant<Constant, Scalar, Size, Index, Start, End, BlockIndex, BlockCount, ClusterIndex,
                        ClusterCount, ClusterRank, Undefined, Broadcast, Slice, Unary, Binary, Fma, Select,
                        Cast, Reduce, Dot, Load, Store, Loop, If, Convert, Roles, Channel, View, CopyIn,
                        CommitCopies, WaitCopies, Barrier, PassSlot, WriteShared, ReadShared, FenceShared,
                        CopyOut, CommitStores, WaitStores, DotShared, IssueDot, FenceDots, CommitDots,
                        WaitDots, TakeTurn, PassTurn, DrawTile, ReduceWarp>;

/// An operation, the values that it defines (a loop may define several, a statement none), and where it was
/// written.
struct Inst {
  std::vector<ValueId> results;
  Op op;
  Loc loc;
  bool operator==(const Inst& other) const { return results == other.results && op == other.op; }
  ValueId result() const { return results.at(0); }
};

inline bool Block::operator==(const Block& other) const = default;

const char* name_of(UnaryFn fn);
const char* name_of(BinaryFn fn);
const char* name_of(ReduceFn fn);
const char* name_of(CopyKind kind);
const char* name_of(SlotStep step);
const char* name_of(Precision precision);

/// Whether an operation is one of some kinds.
template <typename... Kinds>
bool holds_any(const Op& op) {
  return (std::holds_alternative<Kinds>(op) || ...);
}

/// Whether the result is boolean whatever the operands are.
bool compares(BinaryFn fn);
/// What a reduction starts from, the dtype's least or greatest; of i64 as holds() says.
double identity(ReduceFn fn, DType dtype);

/// Each element of the result comes from the operands' elements at its own coordinates alone.
bool is_pointwise(const Op& op);
/// What conditions on indices are made of: cheap enough to be made again wherever they are needed, so that
/// none is in registers for longer than one use.
bool is_predicate(const Op& op);
/// No effect but its results, and equal operands give equal results: may be shared, dropped and moved. (Not
/// shared: Undefined, since whoever fills it does so in place.)
bool is_pure(const Op& op);
}  // namespace tessera
