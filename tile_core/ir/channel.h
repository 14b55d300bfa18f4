#pragma once
#include <map>

#include "tile_core/ir/program.h"

namespace tessera {

/// Bytes from one slot to the next: the rows of the slower axes, `pitch` elements apart, or the atoms of a
/// swizzled channel, rounded up to slot_alignment.
std::int64_t slot_bytes(const Program& program, const Type& type, const Channel& channel);
/// Bytes: 16, or of a swizzled channel what the swizzle's pattern repeats after (128 bytes: 1024).
int slot_alignment(const Channel& channel);

inline constexpr int kBarrierBytes = 16;  ///< of a slot: two mbarriers
inline constexpr int kPatternRows = 8;    ///< that a swizzle's pattern repeats after
inline constexpr int kMaxBox = 256;       ///< lanes of a dim that one bulk copy takes

/// How a channel passes slots between roles. Each slot has two mbarriers: `full` at channel.barriers + 8 *
/// slot and `empty` at channel.barriers + 8 * (slots + slot).
struct Protocol {
  int commits = 0;   ///< arrivals that complete a phase of `full`, besides the bytes of its bulk copies
  int releases = 0;  ///< arrivals that complete a phase of `empty`
  int blocks = 1;    ///< whose `empty` a release arrives at: where copies are multicast, all of the cluster
  std::int64_t bulk_bytes = 0;  ///< that bulk copies bring to one slot, of the channel and of those with it
};

/// Arrivals of one instance of a role at a commit: one of an elected role, else one per warp. At a release:
/// one of an elected role, and one where only dots read the channel, or one that goes with it, and some do
/// after every wait; else one per warp, since a warp may be late to see the phase that it waits for.
int commit_arrivals(const Role& role);
int release_arrivals(const Program& program, const Role& role, ValueId channel);

/// By channel, for those that some role acquires, commits, waits for or releases; a channel that goes `with`
/// another has no entry. All instances of a role pass a slot, unless their tickets depend on the number of
/// the instance and none skips any: then one does.
std::map<ValueId, Protocol> protocols(const Program& program);

}  // namespace tessera
