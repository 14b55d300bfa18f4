#include "tile_core/dsl/canonical.h"

#include <map>
#include <set>

#include "tile_core/ir/operands.h"

namespace tessera::dsl {
namespace {

/// Emits each block's statements in order, and before each the pure operations that it is the first to need.
class Orderer {
 public:
  explicit Orderer(const Program& program) : in_(program), out_(program) {
    out_.types.clear();
    out_.body = {};
  }

  Program run() {
    block(in_.body, out_.body);
    return std::move(out_);
  }

 private:
  void block(const Block& from, Block& to) {
    for (const Inst& inst : from.insts) {
      if (is_pure(inst.op)) pending_[inst.result()] = &inst;
    }
    for (const Inst& inst : from.insts) {
      if (!is_pure(inst.op)) emit(inst, to);
    }
    for (ValueId id : from.yields) to.yields.push_back(need(id, to));
    for (const Inst& inst : from.insts) {
      if (is_pure(inst.op)) pending_.erase(inst.result());
    }
  }

  ValueId need(ValueId id, Block& to) {
    if (auto it = renamed_.find(id); it != renamed_.end()) return it->second;
    emit(*pending_.at(id), to);
    return renamed_.at(id);
  }

  void define(ValueId id) { renamed_[id] = out_.new_value(in_.type(id)); }

  void emit(const Inst& inst, Block& to) {
    Inst copy = inst;
    if (Loop* loop = std::get_if<Loop>(&copy.op)) {
      hoist(loop->body, to);
      for_each_operand(copy.op, [&](ValueId& id) { id = need(id, to); });
      for (ValueId& id : loop->parameters) define(id), id = renamed_.at(id);
      Block body;
      block(std::get<Loop>(inst.op).body, body);
      loop->body = std::move(body);
    } else {
      for_each_operand(copy.op, [&](ValueId& id) { id = need(id, to); });
    }
    for (ValueId& id : copy.results) define(id), id = renamed_.at(id);
    to.insts.push_back(std::move(copy));
  }

  /// Values of the enclosing block that the loop's body reads must stand before the loop.
  void hoist(const Block& body, Block& to) {
    auto visit = [&](ValueId id) {
      if (pending_.contains(id)) need(id, to);
    };
    for (const Inst& inst : body.insts) {
      for_each_operand(inst.op, visit);
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) hoist(loop->body, to);
    }
    for (ValueId id : body.yields) visit(id);
  }

  const Program& in_;
  Program out_;
  std::map<ValueId, ValueId> renamed_;
  std::map<ValueId, const Inst*> pending_;  // pure and in reach, not yet emitted
};

}  // namespace

void substitute(Block& block, const std::vector<std::pair<ValueId, ValueId>>& pairs) {
  std::map<ValueId, ValueId> map(pairs.begin(), pairs.end());
  auto replace = [&](ValueId& id) {
    if (auto it = map.find(id); it != map.end()) id = it->second;
  };
  for (Inst& inst : block.insts) {
    for_each_operand(inst.op, replace);
    if (Loop* loop = std::get_if<Loop>(&inst.op)) substitute(loop->body, pairs);
  }
  for (ValueId& id : block.yields) replace(id);
}

Program canonical(const Program& program) {
  return Orderer(program).run();
}

}  // namespace tessera::dsl
