#pragma once
#include <map>
#include <set>

#include "tile_core/ir/program.h"

namespace tessera {

/// The channels whose fills all threads of a block see, at a place of a walk over its instructions.
class SettledChannels {
 public:
  void walk_over(const Inst& inst);
  bool contains(ValueId channel) const { return settled_.contains(channel); }

 private:
  void fill(ValueId channel, bool is_there);

  std::map<ValueId, int> copied_;  // asynchronously; how many groups have been closed since
  std::set<ValueId> waited_;       // for: a barrier settles them
  std::set<ValueId> settled_;
};

/// The first dot of a loop's body, if it is of the warps' own tensor cores, of 16-bit elements, and its rows
/// are in a slot that was filled before the loop. nullptr: there is none.
const Inst* dot_of_kept_rows(const Loop& loop);

/// Whether copies that a block has itself are asynchronous and of 16 bytes at a time: others take registers
/// that early reads would.
bool copies_spare_registers(const Program& program, const Block& block);

/// Whether a loop's body ends with a wait for copies and its barrier.
bool waits_at_end(const Block& body);

/// Operands that may be read before their dot stands: all threads see them, and registers are the only cost.
struct EarlyReads {
  /// Of this loop's first dot: before the wait at the end of the body, for the next iteration.
  std::map<const Inst*, const Inst*> rows;
  std::map<const Inst*, const Inst*> columns;  ///< before this rescale of an accumulator, of its dot
};

/// Of a program at Stage::ready. Points into it.
EarlyReads early_reads(const Program& program);

}  // namespace tessera
