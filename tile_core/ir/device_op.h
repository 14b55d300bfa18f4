#pragma once
#include <cstdint>
#include <vector>

#include "tile_core/ir/tile_op.h"

/// Operations on what a block has: roles of its warps, shared memory, copies and dots in flight, barriers.
namespace tessera {

/// Part of a block's warps, with a program of their own. `instances` of `warps` each run the body side by
/// side; layouts inside speak of one instance's warps.
struct Role {
  int warps = 4;
  int instances = 1;
  int registers = 0;                 ///< of a thread, by setmaxnreg; 0: as launched
  bool elected = false;              ///< one thread runs the body: copies, and the arithmetic of indices
  ValueId instance = ValueId::none;  ///< defined here: the number of this instance, i64
  Block body;
  bool operator==(const Role&) const = default;
};

/// Splits the block's warps, in order, for the rest of the program; from Stage::roled on.
struct Roles {
  std::vector<Role> roles;
  bool operator==(const Roles&) const = default;
};

// ---- Stage::device on; channels, bulk copies and what passes between roles already from Stage::roled on.
// Statements on shared memory act for the whole block, inside a role for its instance; see insert_barriers
// for their order. ----

/// Shared memory of the result's type; `offset` in bytes is set by plan_shared_memory. Holds NaN until
/// written. A swizzled channel stands as atoms of `swizzle` bytes along its fastest axis, each of all rows;
/// the 16-byte chunks of a row are permuted by its number (PTX ISA, "Shared Memory Matrix Layout").
struct Channel {
  int offset = -1;
  std::vector<AxisId> order;     ///< slowest axis first; rows are `pitch` elements apart
  int pitch = 0;                 ///< of a channel that is not swizzled
  int swizzle = 0;               ///< 0, 32, 64 or 128
  ValueId with = ValueId::none;  ///< acquired, committed, waited for and released with that channel
  int barriers = -1;             ///< bytes, set by plan_shared_memory: a slot's two mbarriers, see channel.h
  bool operator==(const Channel&) const = default;
};

/// Of a slot, the lanes index * extent(to), ... of the channel's axis `of`, seen as the lanes of axis `to`.
struct Part {
  AxisId of = AxisId::none;  ///< none: the whole slot
  AxisId to = AxisId::none;
  ValueId index = ValueId::none;
  bool operator==(const Part&) const = default;
};

/// One slot of a channel: (ticket + offset) modulo the number of slots.
struct Slot {
  ValueId channel{};
  ValueId ticket = ValueId::none;  ///< none: 0
  int offset = 0;
  Part part;
  bool operator==(const Slot&) const = default;
};

/// A slot as a tile in shared memory, for dots and conversions to read. Stage::roled only: lower_tiles has
/// its readers read the slot.
struct View {
  Slot slot;
  bool operator==(const View&) const = default;
};

/// Who copies: the block's threads through registers; the same where an access of 16 bytes may begin at any
/// element of 16 bits, from the aligned words around it; threads asynchronously; or the copy engine (TMA),
/// which one thread asks.
enum class CopyKind : std::uint8_t { threads, realigned, async, bulk };

/// Copies a tile of a tensor into a slot, 0 outside the tensor. An async copy has happened for this thread
/// after a wait that covers its group, for the block after a barrier that follows; a bulk copy for whoever
/// waits for the slot after it is committed.
struct CopyIn {
  Load load;
  Slot to;
  CopyKind kind = CopyKind::threads;
  int vector = 1;  ///< elements of one access; 1 for bulk
  /// Bulk: to the same place of every block of the cluster, as if each had copied it. Blocks that share a
  /// slot so each copy a part of it.
  bool multicast = false;
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

/// Waits for every thread of the block, inside a role of its instance; what was written to shared memory
/// before is seen after.
struct Barrier {
  bool operator==(const Barrier&) const = default;
};

/// Passes a slot from its writers to its readers and back, across roles, by two mbarriers. A ticket counts
/// the uses of the slot's channel: use u of a slot is acquired after all instances that read it have released
/// use u - 1, and waited for until its writers have committed it and its bulk copies have landed. Where
/// copies to it are multicast, the instances are those of all blocks of the cluster: a release reaches every
/// block. Who has no use for a slot skips it: waits for it and releases it unread, so that all instances of a
/// role count alike.
enum class SlotStep : std::uint8_t { acquire, commit, wait, release, skip };
struct PassSlot {
  SlotStep step{};
  Slot slot;
  bool operator==(const PassSlot&) const = default;
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

/// What this instance has written to shared memory may be read by the copy engine and by dots, once a barrier
/// has followed.
struct FenceShared {
  bool operator==(const FenceShared&) const = default;
};

/// Starts a copy of a slot to a tensor by the copy engine; elements outside the tensor are dropped. One that
/// accumulates adds to them as Store does, each element at once.
struct CopyOut {
  Slot from;
  TensorId tensor{};
  std::vector<Subscript> subscripts;
  bool accumulate = false;
  bool operator==(const CopyOut&) const = default;
};

/// Ends the group of the copies out since the last commit.
struct CommitStores {
  bool operator==(const CommitStores&) const = default;
};

/// One thread waits until at most `pending` groups of copies out, the newest, still read shared memory; the
/// instance knows after a barrier.
struct WaitStores {
  int pending = 0;
  bool operator==(const WaitStores&) const = default;
};

/// The first operand of a dot: a slot, or a tile in registers.
struct DotOperand {
  ValueId value = ValueId::none;  ///< none: the slot
  Slot slot;
  bool operator==(const DotOperand&) const = default;
};

/// Dot by the block's threads, added to the accumulator: by FMA on two slots, or by each warp on the tensor
/// cores (mma.sync), whose slots are swizzled and whose tiles in registers are a warp_layout.
struct DotShared {
  DotOperand a;
  Slot b;
  AxisId axis{};
  ValueId accumulator{};
  bool mma = false;
  Precision precision = Precision::ieee;
  bool operator==(const DotShared&) const = default;
};

/// Starts a dot on the tensor cores (wgmma) in the open group; its result is pending until a wait covers that
/// group. Added to the accumulator where `accumulate` holds, else to 0.
struct IssueDot {
  DotOperand a;
  Slot b;
  AxisId axis{};
  ValueId accumulator = ValueId::none;  ///< pending or not; none: 0
  ValueId accumulate = ValueId::none;   ///< none: true
  bool operator==(const IssueDot&) const = default;
};

/// Registers that were written before may be read or updated by the dots of the next group.
struct FenceDots {
  bool operator==(const FenceDots&) const = default;
};

/// Ends the group of the dots issued since the last commit.
struct CommitDots {
  bool operator==(const CommitDots&) const = default;
};

/// Waits until at most `pending` groups of dots are unfinished, the newest. The results are `values`, no
/// longer pending.
struct WaitDots {
  int pending = 0;
  std::vector<ValueId> values;
  bool operator==(const WaitDots&) const = default;
};

/// The instances of a role take turns in order, instance 0 first: between taking and passing one is alone.
struct TakeTurn {
  bool operator==(const TakeTurn&) const = default;
};
struct PassTurn {
  bool operator==(const PassTurn&) const = default;
};

/// How many tiles all blocks of the launch have drawn before: the counter of the launch, which this adds 1 to
/// at once. It comes round after `tiles` draws: then it is 0 for the next launch. From Stage::roled on.
struct DrawTile {
  ValueId tiles{};  ///< the number of draws, which is that of tiles
  bool operator==(const DrawTile&) const = default;
};

/// Reduces what each warp holds along `axis`; the warps' results stand along the axis `warps` of the result.
struct ReduceWarp {
  ReduceFn fn{};
  ValueId a{};
  AxisId axis{};
  AxisId warps{};
  bool operator==(const ReduceWarp&) const = default;
};

}  // namespace tessera
