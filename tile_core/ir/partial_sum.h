#pragma once
#include <vector>

#include "tile_core/ir/uses.h"

namespace tessera {

/// A tile that a loop carries from 0, and that each iteration adds a reduce_sum to, after it has scaled it by
/// at most 1, if at all. It is linear in that sum, so lanes may each add up what they hold and meet once,
/// after the loop.
struct PartialSum {
  const Inst* reduce = nullptr;  ///< whose result is each lane's own
  ValueId result{};              ///< of the loop: the lanes' sums have to be added up
};

/// `loop` is a Loop of `program`; layouts are known.
std::vector<PartialSum> partial_sums(const Program& program, const Inst& loop, const Uses& uses);

}  // namespace tessera
