#pragma once
#include <functional>
#include <vector>

#include "tile_core/ir/index_arithmetic.h"
#include "tile_core/ir/program.h"

namespace tessera {

class Rewriter;

/// Returns true where it has emitted what replaces `inst`, or dropped it; false has it copied. What is copied
/// has its blocks go through the rule.
using Rule = std::function<bool(Rewriter&, const Inst& inst)>;

/// A new program from `in`, instruction by instruction, with values numbered in order of definition.
Program rewrite(const Program& in, const Rule& rule);

/// The same program with values numbered in order of definition, so that equal programs are equal. Values
/// that nothing mentions lose their types.
Program renumbered(Program program);

/// What a pass does inside a loop that it copies. Both may emit, and may add to the new loop's `carried`
/// (outer values), `parameters` (of define()) and, in `leave`, to its yields; all three must have the same
/// length in the end.
struct LoopHooks {
  std::function<void(Loop&)>
      enter;  ///< before the body's first instruction; may set start, ticket and the flags
  std::function<void(Loop&)> leave;  ///< after its last, with the yields of the old loop in place
};

/// The program under construction, as a rule sees it. "Old" values are of `in()`; everything emitted takes
/// new ones.
class Rewriter : public IndexArithmetic<Rewriter> {
 public:
  Rewriter(const Program& in, const Rule& rule);

  const Program& in() const { return in_; }
  Program& out() { return out_; }  ///< for new axes, types and attributes

  /// The new value of an old one. Throws InternalError where no instruction so far has given it one.
  ValueId map(ValueId old) const;
  Op map(Op op) const;  ///< the operation with its operands (of a loop, those that it is entered with) mapped
  /// From here on `old` stands for `now`; may be said again, as where a body is emitted twice.
  void replace(ValueId old, ValueId now);

  ValueId define(Type type) {
    return out_.new_value(std::move(type));
  }  ///< for a loop's start, ticket and parameters, a role's instance
  ValueId emit(Op op, Type type, Loc loc);
  void emit_statement(Op op, Loc loc);
  std::vector<ValueId> emit_all(Op op, const std::vector<Type>& types, Loc loc);  ///< of several results
  /// A block for an operation that is emitted afterwards, as a branch or a role's body: `fill` emits into it
  /// and returns its yields.
  Block emit_block(const std::function<std::vector<ValueId>()>& fill);

  /// Emits the instruction as it is, operands mapped, and maps its results.
  void copy(const Inst& inst);
  /// The same for a loop; returns all results of the new one, those of the old loop's first.
  std::vector<ValueId> copy_loop(const Inst& inst, const LoopHooks& hooks = {});
  /// Emits the instructions of a block through the rule; returns its yields, mapped.
  std::vector<ValueId> copy_block(const Block& block);

 private:
  friend Program rewrite(const Program& in, const Rule& rule);
  void copy_if(const Inst& inst, const If& old);
  void copy_roles(const Inst& inst, const Roles& old);
  ValueId map_optional(ValueId old) const;
  ValueId redefine(ValueId old);

  const Program& in_;
  const Rule& rule_;
  Program out_;
  Block* block_;              // being emitted into
  std::vector<ValueId> now_;  // of every old value
};

}  // namespace tessera
