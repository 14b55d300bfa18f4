#pragma once
#include <map>
#include <set>

#include "tile_core/ir/program.h"

namespace tessera::codegen {

/// Which values are still needed after each instruction. Points into the program.
class Lifetimes {
 public:
  explicit Lifetimes(const Program& program);

  /// Whether anything that may run after the instruction takes the value: for an instruction with blocks,
  /// after all of them; for one in a loop, also the next iteration.
  bool needed_after(const Inst& inst, ValueId id) const { return after_.at(&inst).contains(id); }

 private:
  using Values = std::set<ValueId>;

  /// Returns what is needed when the block begins; `after`: when it ends, besides its yields.
  Values block(const Block& block, const Values& after);
  /// What is needed when the instruction's blocks begin.
  Values inside(const Inst& inst, const Values& after);

  std::map<const Inst*, Values> after_;
};

}  // namespace tessera::codegen
