#include "tile_core/passes/role_builder.h"

#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"

namespace tessera {

ValueId RoleBuilder::map(ValueId old) const {
  auto found = now_.find(old);
  if (found == now_.end()) {
    throw InternalError::format("roles: value {} of '{}' is needed by a role that does not have it",
                                index_of(old), in_.name);
  }
  return found->second;
}

Block* RoleBuilder::enter(Block* block) {
  return std::exchange(block_, block);
}

ValueId RoleBuilder::emit(Op op, Type type, Loc loc) {
  ValueId result = out_->new_value(std::move(type));
  block_->insts.push_back({{result}, std::move(op), loc});
  return result;
}

void RoleBuilder::statement(Op op, Loc loc) {
  block_->insts.push_back({{}, std::move(op), loc});
}

ValueId RoleBuilder::trips(ValueId begin, ValueId end, int extent) {
  ValueId zero = constant(0);
  ValueId length = arithmetic(BinaryFn::max, arithmetic(BinaryFn::sub, end, begin), zero);
  ValueId last = constant(extent - 1);
  ValueId up = arithmetic(BinaryFn::add, length, last);
  ValueId step = constant(extent);
  return arithmetic(BinaryFn::div, up, step);
}

Op RoleBuilder::mapped(Op op) const {
  for_each_operand(op, [this](ValueId& id) { id = map(id); });
  return op;
}

bool RoleBuilder::knows_operands(const Op& op) const {
  bool all = true;
  for_each_operand(op, [&](ValueId id) { all = all && knows(id); });
  return all;
}

ValueId RoleBuilder::define(ValueId old, Type type) {
  ValueId now = out_->new_value(std::move(type));
  replace(old, now);
  return now;
}

}  // namespace tessera
