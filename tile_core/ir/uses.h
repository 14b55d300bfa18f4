#pragma once
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera {

/// Who defines and who takes each value of a program. Points into the program: valid until it changes.
class Uses {
 public:
  explicit Uses(const Program& program);

  /// The instruction that defines a value: of a loop's start, ticket, parameters and results, the loop; of an
  /// instance's number, the roles.
  const Inst& definer(ValueId id) const { return *definers_.at(index_of(id)); }
  /// The instructions that take it, in order, once for each time that they do. What a block yields is
  /// taken by its instruction.
  const std::vector<const Inst*>& users(ValueId id) const { return users_.at(index_of(id)); }
  bool is_used(ValueId id) const { return !users(id).empty(); }
  /// The innermost loop whose body defines a value (for what a loop defines for its body, that loop); null at
  /// the top.
  const Inst* loop_of(ValueId id) const { return loops_.at(index_of(id)); }

 private:
  void block(const Block& block, const Inst* loop);
  void define(ValueId id, const Inst& inst, const Inst* loop);

  std::vector<const Inst*> definers_;
  std::vector<std::vector<const Inst*>> users_;
  std::vector<const Inst*> loops_;
};

/// The program without the instructions, loops, branches, and carried and yielded values that have no effect
/// on a tensor or on shared memory.
Program remove_unused(const Program& program);

}  // namespace tessera
