#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera {

/// A slot that an instruction names, by the value of its ticket then.
struct SlotUse {
  ValueId channel{};
  int slot = 0;
  std::int64_t use = 0;  ///< of this slot, the first is 0
};

/// An instruction that somebody has just executed; of a wait, after it has returned. Of a loop: an iteration
/// that begins.
struct Executed {
  const Inst& inst;
  const Role* role = nullptr;  ///< null: the whole block
  int instance = 0;            ///< of the role
  std::int64_t block = 0;
  std::vector<SlotUse> slots;  ///< in the order of the instruction's text
  /// Of a copy between a tensor and shared memory or registers, the index in each dim of the tensor at which
  /// it starts; of a loop, where the iteration starts.
  std::vector<std::int64_t> starts;
};

/// Sees what is executed in an order in which it may happen: what somebody waits for comes before the wait.
using Observer = std::function<void(const Executed&)>;

}  // namespace tessera
