#pragma once
#include <map>
#include <vector>

#include "tile_core/ir/index_arithmetic.h"
#include "tile_core/ir/program.h"

namespace tessera {

/// Writes the program of one role: emits instructions into a block, and knows which new value stands for each
/// old one. A role's builder starts from what the whole block knows, as a copy.
class RoleBuilder : public IndexArithmetic<RoleBuilder> {
 public:
  RoleBuilder(const Program& in, Program& out) : in_(in), out_(&out) {}

  const Program& in() const { return in_; }
  Program& out() { return *out_; }
  const Program& out() const { return *out_; }

  bool knows(ValueId old) const { return now_.contains(old); }
  ValueId map(ValueId old) const;
  void replace(ValueId old, ValueId now) { now_[old] = now; }

  /// What follows is emitted into `block`; returns the block until now.
  Block* enter(Block* block);
  ValueId emit(Op op, Type type, Loc loc = {});
  void statement(Op op, Loc loc = {});
  void add(Inst inst) { block_->insts.push_back(std::move(inst)); }
  /// The iterations of a loop over begin, begin + extent, ... below end.
  ValueId trips(ValueId begin, ValueId end, int extent);

  /// The operation with its operands mapped.
  Op mapped(Op op) const;
  bool knows_operands(const Op& op) const;
  /// A new value of a type for an old one.
  ValueId define(ValueId old, Type type);

 private:
  const Program& in_;
  Program* out_;
  Block* block_ = nullptr;
  std::map<ValueId, ValueId> now_;
};

}  // namespace tessera
