#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tile_core/base/loc.h"
#include "tile_core/base/match.h"
#include "tile_core/ir/type.h"

/// The closed list of operations. Each comment is the operation's meaning; the interpreter executes it.
/// Operands align by axis name: an operand without an axis of the result is the same for every coordinate of
/// it. Floating-point arithmetic rounds once to the result's dtype.
namespace tessera {

/// A literal, broadcast over the result's axes.
struct Constant {
  double value = 0;
  /// Bit for bit: 0 and -0 differ, and a NaN equals itself.
  bool operator==(const Constant& other) const {
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
  }
};

/// A number of the call.
struct Scalar {
  ScalarId scalar{};
  bool operator==(const Scalar&) const = default;
};

/// The run-time size of a dim, i64.
struct Size {
  DimId dim{};
  bool operator==(const Size&) const = default;
};

/// The index within its dim of every lane of an axis, i64[axis]: start, start + 1, ... From Stage::mapped on
/// the start is a value; before, it is implied by the loop or the grid that the axis belongs to.
struct Index {
  AxisId axis{};
  ValueId start = ValueId::none;
  bool operator==(const Index&) const = default;
};

/// The index of an axis' first lane, i64. Stage::tile only: map_grid replaces it by the value that starts the
/// axis.
struct Start {
  AxisId axis{};
  bool operator==(const Start&) const = default;
};

/// The number of this block, i64, from Stage::mapped on.
struct BlockIndex {
  bool operator==(const BlockIndex&) const = default;
};

/// The same tile with more axes.
struct Broadcast {
  ValueId a{};
  bool operator==(const Broadcast&) const = default;
};

enum class UnaryFn { neg, abs, exp, exp2, log, log2, sqrt, rsqrt, tanh, erf, erfc, logical_not };
struct Unary {
  UnaryFn fn{};
  ValueId a{};
  bool operator==(const Unary&) const = default;
};

/// max and min are IEEE maximumNumber: a NaN operand gives the other one. div of integers rounds down; mod
/// goes with it; both give 0 where the divisor is 0. Nobody says which integer stands for one that its dtype
/// cannot hold.
enum class BinaryFn { add, sub, mul, div, mod, max, min, lt, le, eq, ne, logical_and, logical_or };
struct Binary {
  BinaryFn fn{};
  ValueId a{};
  ValueId b{};
  bool operator==(const Binary&) const = default;
};

/// a where the condition holds, else b.
struct Select {
  ValueId condition{};
  ValueId a{};
  ValueId b{};
  bool operator==(const Select&) const = default;
};

/// Rounds to the result's dtype: to an integer towards 0, and nobody says to which where it holds none such.
struct Cast {
  ValueId a{};
  bool operator==(const Cast&) const = default;
};

enum class ReduceFn { sum, max, min };
/// Over an axis; until mask_tails over its valid lanes only. The empty sum is 0, max -inf, min +inf.
struct Reduce {
  ReduceFn fn{};
  ValueId a{};
  AxisId axis{};
  bool operator==(const Reduce&) const = default;
};

/// The sum over `axis` of a * b in f32, with fma in the order of the axis; until mask_tails over its valid
/// lanes only. `accumulator`, where there is one, is added to.
struct Dot {
  ValueId a{};
  ValueId b{};
  AxisId axis{};
  ValueId accumulator = ValueId::none;
  bool operator==(const Dot&) const = default;
};

/// One subscript of a tensor: the lanes of an axis, starting as Index does, or a scalar value where axis is
/// none.
struct Subscript {
  AxisId axis = AxisId::none;
  ValueId value = ValueId::none;
  bool operator==(const Subscript&) const = default;
};

/// The tensor's elements at the subscripts; 0 outside the tensor.
struct Load {
  TensorId tensor{};
  std::vector<Subscript> subscripts;
  bool operator==(const Load&) const = default;
};

/// Writes a tile; elements outside the tensor are dropped.
struct Store {
  TensorId tensor{};
  std::vector<Subscript> subscripts;
  ValueId value{};
  bool operator==(const Store&) const = default;
};

struct Inst;
struct Block {
  std::vector<Inst> insts;
  std::vector<ValueId> yields;
  bool operator==(const Block&) const;
};

/// Runs `body` with the axis starting at begin, begin + extent, ... below end. `carried` enter as
/// `parameters`; what the body yields enters the next iteration, and is the loop's results.
struct Loop {
  AxisId axis{};
  ValueId begin{};
  ValueId end{};
  bool pipelined = false;  ///< iterations may be overlapped
  ValueId start =
      ValueId::none;  ///< defined here: the axis' first index in this iteration, from Stage::mapped on
  ValueId ticket = ValueId::none;  ///< defined here: the number of this iteration, from Stage::device on
  std::vector<ValueId> carried;
  std::vector<ValueId> parameters;
  Block body;
  bool operator==(const Loop&) const = default;
};

/// The same tile in another space or layout: the result's. From Stage::placed to Stage::laid_out.
struct Convert {
  ValueId a{};
  bool operator==(const Convert&) const = default;
};

// ---- Stage::device on. Statements on shared memory act for the whole block; see insert_barriers for their
// order. ----

/// Shared memory of the result's type; `offset` in bytes is set by plan_shared_memory. Holds NaN until
/// written.
struct Channel {
  int offset = -1;
  std::vector<AxisId> order;  ///< slowest axis first; rows are `pitch` elements apart
  int pitch = 0;
  bool operator==(const Channel&) const = default;
};

/// One slot of a channel: (ticket + offset) modulo the number of slots.
struct Slot {
  ValueId channel{};
  ValueId ticket = ValueId::none;  ///< none: 0
  int offset = 0;
  bool operator==(const Slot&) const = default;
};

/// Copies a tile of a tensor into a slot, 0 outside the tensor. Asynchronous where `async`: it has happened
/// for this thread after a wait that covers its group, for the block after a barrier that follows.
struct CopyIn {
  Load load;
  Slot to;
  bool async = false;
  int vector = 1;  ///< elements of one access
  bool operator==(const CopyIn&) const = default;
};

/// Ends the group of the asynchronous copies since the last commit.
struct CommitCopies {
  bool operator==(const CommitCopies&) const = default;
};

/// Returns when at most `pending` groups of this thread are unfinished, the newest ones.
struct WaitCopies {
  int pending = 0;
  bool operator==(const WaitCopies&) const = default;
};

/// Waits for every thread of the block; what was written to shared memory before is seen after.
struct Barrier {
  bool operator==(const Barrier&) const = default;
};

struct WriteShared {
  Slot to;
  ValueId value{};
  bool operator==(const WriteShared&) const = default;
};

struct ReadShared {
  Slot from;
  bool operator==(const ReadShared&) const = default;
};

/// Dot of two slots, added to the accumulator.
struct DotShared {
  Slot a;
  Slot b;
  AxisId axis{};
  ValueId accumulator{};
  bool operator==(const DotShared&) const = default;
};

/// Reduces what each warp holds along `axis`; the warps' results stand along the axis `warps` of the result.
struct ReduceWarp {
  ReduceFn fn{};
  ValueId a{};
  AxisId axis{};
  AxisId warps{};
  bool operator==(const ReduceWarp&) const = default;
};

using Op = std::variant<Constant, Scalar, Size, Index, Start, BlockIndex, Broadcast, Unary, Binary, Select,
                        Cast, Reduce, Dot, Load, Store, Loop, Convert, Channel, CopyIn, CommitCopies,
                        WaitCopies, Barrier, WriteShared, ReadShared, DotShared, ReduceWarp>;

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

/// Whether the result is boolean whatever the operands are.
bool compares(BinaryFn fn);
/// What a reduction starts from: of an i64 +-2^62 and of an i32 its ends stand for the infinities.
double identity(ReduceFn fn, DType dtype);

/// No effect but its results, and equal operands give equal results: may be shared, dropped and moved.
bool is_pure(const Op& op);
}  // namespace tessera
