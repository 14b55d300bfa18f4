#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "tile_core/ir/type.h"

/// Operations on tiles. Each comment is the operation's meaning; the interpreter executes it.
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

/// One past the index of an axis' last lane, i64; its start as Index has it. As a loop's bound it speaks of
/// the rows at hand: groups of warps may each stop at the end of their own; mask what is beyond a row.
struct End {
  AxisId axis{};
  ValueId start = ValueId::none;
  bool operator==(const End&) const = default;
};

/// The number of this block, i64, from Stage::mapped on.
struct BlockIndex {
  bool operator==(const BlockIndex&) const = default;
};

/// The number of blocks of the launch, i64, from Stage::mapped on.
struct BlockCount {
  bool operator==(const BlockCount&) const = default;
};

/// The number of this block's cluster, the number of clusters of the launch, and the number of this block
/// within its cluster, i64, from Stage::mapped on.
struct ClusterIndex {
  bool operator==(const ClusterIndex&) const = default;
};
struct ClusterCount {
  bool operator==(const ClusterCount&) const = default;
};
struct ClusterRank {
  bool operator==(const ClusterRank&) const = default;
};

/// A tile of any value: what a loop carries before anything has been written to it.
struct Undefined {
  bool operator==(const Undefined&) const = default;
};

/// The same tile with more axes.
struct Broadcast {
  ValueId a{};
  bool operator==(const Broadcast&) const = default;
};

/// Of a tile in registers, the lanes index * extent(to), ... of its axis `of`, seen as the lanes of axis
/// `to`.
struct Slice {
  ValueId a{};
  AxisId of{};
  AxisId to{};
  int index = 0;
  bool operator==(const Slice&) const = default;
};

/// fast_tanh is at most 1e-5 off; the others are as exact as the C library's, of exp2 to 2 ulp.
enum class UnaryFn { neg, abs, exp, exp2, log, log2, sqrt, rsqrt, tanh, fast_tanh, erf, erfc, logical_not };
struct Unary {
  UnaryFn fn{};
  ValueId a{};
  bool operator==(const Unary&) const = default;
};

/// max and min are IEEE maximumNumber: a NaN operand gives the other one. div of integers rounds down; mod
/// goes with it; both give 0 where the divisor is 0, on a device any number. Nobody says which integer stands
/// for one that its dtype cannot hold. rescale is mul of f32 by what is 1 nearly everywhere: no work where it
/// is.
enum class BinaryFn { add, sub, mul, rescale, div, mod, max, min, lt, le, eq, ne, logical_and, logical_or };
struct Binary {
  BinaryFn fn{};
  ValueId a{};
  ValueId b{};
  bool operator==(const Binary&) const = default;
};

/// a * b + c of f32, rounded once.
struct Fma {
  ValueId a{};
  ValueId b{};
  ValueId c{};
  bool operator==(const Fma&) const = default;
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
/// Over an axis; until mask_tails over its valid lanes only. The empty sum is 0, max and min
/// are the dtype's least and greatest.
struct Reduce {
  ReduceFn fn{};
  ValueId a{};
  AxisId axis{};
  bool operator==(const Reduce&) const = default;
};

/// What a dot of f32 makes of its operands: nothing (IEEE 754's binary32); each rounded to TF32 (tf32_of); or
/// each as the sum of two in TF32, of whose four products the one of both rests is left out (Ootomo and
/// Yokota, arXiv 2203.03341).
enum class Precision : std::uint8_t { ieee, tf32, tf32x3 };

/// The sum over `axis` of a * b in f32, with fma in the order of the axis, by sums of dot_summands(), of
/// several products the least first; until mask_tails over its valid lanes only. `accumulator`, where there
/// is one, is added to.
struct Dot {
  ValueId a{};
  ValueId b{};
  AxisId axis{};
  ValueId accumulator = ValueId::none;
  Precision precision = Precision::ieee;
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

/// Writes a tile; elements outside the tensor are dropped. One that accumulates adds the tile to what is
/// there: f32, 0 before the first; nobody says in which order tiles are added.
struct Store {
  TensorId tensor{};
  std::vector<Subscript> subscripts;
  ValueId value{};
  bool accumulate = false;
  bool operator==(const Store&) const = default;
};

struct Inst;
struct Block {
  std::vector<Inst> insts;
  std::vector<ValueId> yields;
  bool operator==(const Block&) const;
};

/// Runs `body` with the axis starting at begin, begin + step, ... below end; the step is the axis' extent, or
/// a value where the loop steps through no axis. `carried` enter as `parameters`; what the body yields enters
/// the next iteration, and is the loop's results. A loop through no axis without a step goes where its body
/// says: the first value that it carries is begin, as a parameter the start, and as the body yields it the
/// next.
struct Loop {
  AxisId axis{};  ///< none: a loop over the tiles of the grid, from Stage::mapped on
  ValueId begin{};
  ValueId end{};
  ValueId step = ValueId::none;  ///< only where there is no axis; from Stage::roled on there need not be one
  bool pipelined = false;        ///< iterations may be overlapped
  ValueId start =
      ValueId::none;  ///< defined here: the axis' first index in this iteration, from Stage::mapped on
  ValueId ticket = ValueId::none;        ///< defined here: the number of this iteration, from Stage::roled on
  ValueId first_ticket = ValueId::none;  ///< the ticket of the first iteration; none: 0
  std::vector<ValueId> carried;
  std::vector<ValueId> parameters;
  Block body;
  bool operator==(const Loop&) const = default;
  /// Whether the body says where the next iteration starts.
  bool draws_its_starts() const { return axis == AxisId::none && step == ValueId::none; }
};

/// Runs one of two blocks; its yields are the results. The condition is the same for all threads of the role.
struct If {
  ValueId condition{};
  Block then;
  Block otherwise;
  bool operator==(const If&) const = default;
};

/// The same tile in another space or layout: the result's. From Stage::placed to Stage::laid_out.
struct Convert {
  ValueId a{};
  bool operator==(const Convert&) const = default;
};

}  // namespace tessera
