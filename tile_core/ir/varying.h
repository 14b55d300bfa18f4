#pragma once
#include <set>

#include "tile_core/ir/program.h"

namespace tessera {

/// The values of a block that may differ between those that run it side by side, since they are made from
/// values that do.
class Varying {
 public:
  Varying(const Block& block, std::set<ValueId> from);

  bool operator()(ValueId id) const { return varying_.contains(id); }

 private:
  void mark(ValueId id, bool varies);
  void visit(const Inst& inst);
  void visit(const Inst& inst, const Loop& loop);

  std::set<ValueId> varying_;
  bool changed_ = false;
};

/// The values that instances of a role may disagree on.
Varying varying_in(const Role& role);
/// The values that blocks of a cluster may disagree on, also by what each reads in its own shared memory;
/// from Stage::mapped on.
Varying varying_in_cluster(const Program& program);

}  // namespace tessera
