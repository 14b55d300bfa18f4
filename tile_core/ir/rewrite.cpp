#include "tile_core/ir/rewrite.h"

#include <algorithm>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

/// Gives every value the next number where it is first met.
class Numbering {
 public:
  explicit Numbering(Program& program)
      : p_(program), types_(std::move(program.types)), now_(types_.size(), ValueId::none) {
    p_.types.clear();
  }

  void block(Block& b) {
    for (Inst& inst : b.insts) instruction(inst);
    for (ValueId& id : b.yields) value(id);
  }

 private:
  void instruction(Inst& inst) {
    for_each_operand(inst.op, [this](ValueId& id) { value(id); });
    if (Roles* roles = std::get_if<Roles>(&inst.op)) return each(*roles);
    if (Loop* loop = std::get_if<Loop>(&inst.op)) {
      value(loop->start), value(loop->ticket);
      for (ValueId& id : loop->parameters) value(id);
    }
    for_each_block(inst.op, [this](Block& inner) { block(inner); });
    for (ValueId& id : inst.results) value(id);
  }

  void each(Roles& roles) {
    for (Role& role : roles.roles) {
      value(role.instance);
      block(role.body);
    }
  }

  void value(ValueId& id) {
    if (id == ValueId::none) return;
    ValueId& now = now_.at(index_of(id));
    if (now == ValueId::none) now = p_.new_value(std::move(types_[index_of(id)]));
    id = now;
  }

  Program& p_;
  std::vector<Type> types_;
  std::vector<ValueId> now_;
};

}  // namespace

Program renumbered(Program program) {
  Numbering(program).block(program.body);
  return program;
}

Program rewrite(const Program& in, const Rule& rule) {
  Rewriter r(in, rule);
  r.out_.body.yields = r.copy_block(in.body);
  return renumbered(std::move(r.out_));
}

Rewriter::Rewriter(const Program& in, const Rule& rule)
    : in_(in), rule_(rule), out_(in), block_(&out_.body), now_(in.types.size(), ValueId::none) {
  out_.body = {};
  out_.types.clear();
}

ValueId Rewriter::map(ValueId old) const {
  ValueId now = now_.at(index_of(old));
  if (now == ValueId::none) {
    throw InternalError::format(
        "rewrite of {}: value {} is used, but its definition was dropped or comes later", in_.name,
        index_of(old));
  }
  return now;
}

ValueId Rewriter::map_optional(ValueId old) const {
  return old == ValueId::none ? old : map(old);
}

Op Rewriter::map(Op op) const {
  for_each_operand(op, [this](ValueId& id) { id = map(id); });
  return op;
}

void Rewriter::replace(ValueId old, ValueId now) {
  now_.at(index_of(old)) = now;
}

ValueId Rewriter::redefine(ValueId old) {
  if (old == ValueId::none) return old;
  ValueId now = define(in_.type(old));
  replace(old, now);
  return now;
}

ValueId Rewriter::emit(Op op, Type type, Loc loc) {
  ValueId result = define(std::move(type));
  block_->insts.push_back({{result}, std::move(op), loc});
  return result;
}

void Rewriter::emit_statement(Op op, Loc loc) {
  block_->insts.push_back({{}, std::move(op), loc});
}

std::vector<ValueId> Rewriter::emit_all(Op op, const std::vector<Type>& types, Loc loc) {
  std::vector<ValueId> results;
  for (const Type& type : types) results.push_back(define(type));
  block_->insts.push_back({results, std::move(op), loc});
  return results;
}

Block Rewriter::emit_block(const std::function<std::vector<ValueId>()>& fill) {
  Block result;
  Block* outer = std::exchange(block_, &result);
  result.yields = fill();
  block_ = outer;
  return result;
}

void Rewriter::copy(const Inst& inst) {
  if (std::holds_alternative<Loop>(inst.op)) {
    copy_loop(inst);
    return;
  }
  if (const If* branch = std::get_if<If>(&inst.op)) return copy_if(inst, *branch);
  if (const Roles* roles = std::get_if<Roles>(&inst.op)) return copy_roles(inst, *roles);
  Inst now{{}, map(inst.op), inst.loc};
  for (ValueId id : inst.results) now.results.push_back(redefine(id));
  block_->insts.push_back(std::move(now));
}

std::vector<ValueId> Rewriter::copy_loop(const Inst& inst, const LoopHooks& hooks) {
  const Loop& old = std::get<Loop>(inst.op);
  Loop now;
  now.axis = old.axis;
  now.begin = map(old.begin);
  now.end = map(old.end);
  now.step = map_optional(old.step);
  now.first_ticket = map_optional(old.first_ticket);
  now.pipelined = old.pipelined;
  now.start = redefine(old.start);
  now.ticket = redefine(old.ticket);
  for (std::size_t i = 0; i < old.carried.size(); ++i) {
    now.carried.push_back(map(old.carried[i]));
    now.parameters.push_back(define(out_.type(now.carried[i])));
    replace(old.parameters[i], now.parameters[i]);
  }

  Block* outer = std::exchange(block_, &now.body);
  if (hooks.enter) hooks.enter(now);
  now.body.yields = copy_block(old.body);
  if (hooks.leave) hooks.leave(now);
  block_ = outer;

  Inst result{{}, {}, inst.loc};
  for (ValueId parameter : now.parameters) {
    Type type = out_.type(parameter);
    result.results.push_back(define(std::move(type)));
  }
  std::size_t kept = std::min(inst.results.size(), result.results.size());  // a hook may drop what is carried
  for (std::size_t i = 0; i < kept; ++i) replace(inst.results[i], result.results[i]);
  std::vector<ValueId> results = result.results;
  result.op = std::move(now);
  block_->insts.push_back(std::move(result));
  return results;
}

void Rewriter::copy_if(const Inst& inst, const If& old) {
  If now{.condition = map(old.condition)};
  now.then = emit_block([&] { return copy_block(old.then); });
  now.otherwise = emit_block([&] { return copy_block(old.otherwise); });
  std::vector<Type> types;
  for (ValueId id : now.then.yields) types.push_back(out_.type(id));
  std::vector<ValueId> results = emit_all(std::move(now), types, inst.loc);
  for (std::size_t i = 0; i < results.size(); ++i) replace(inst.results.at(i), results[i]);
}

void Rewriter::copy_roles(const Inst& inst, const Roles& old) {
  Roles now;
  for (const Role& role : old.roles) {
    now.roles.push_back(role);
    now.roles.back().instance = redefine(role.instance);
    now.roles.back().body = emit_block([&] { return copy_block(role.body); });
  }
  emit_statement(std::move(now), inst.loc);
}

std::vector<ValueId> Rewriter::copy_block(const Block& block) {
  for (const Inst& inst : block.insts) {
    if (!rule_(*this, inst)) copy(inst);
  }
  std::vector<ValueId> yields;
  for (ValueId id : block.yields) yields.push_back(map(id));
  return yields;
}

}  // namespace tessera
