#include "tile_core/ir/uses.h"

#include <algorithm>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"

namespace tessera {
namespace {

/// The values whose removal would change an effect: a fixed point, since loops carry values backwards.
class Live {
 public:
  explicit Live(const Program& program) : live_(program.types.size(), false) {
    do {
      changed_ = false;
      block(program.body);
    } while (changed_);
  }

  bool operator()(ValueId id) const { return live_[index_of(id)]; }

  bool operator()(const Inst& inst) const {
    if (std::any_of(inst.results.begin(), inst.results.end(), *this)) return true;
    const Loop* loop = std::get_if<Loop>(&inst.op);
    return loop == nullptr ? !is_pure(inst.op)
                           : std::any_of(loop->body.insts.begin(), loop->body.insts.end(), *this);
  }

  /// Whether a loop has to carry its i-th value.
  bool carries(const Inst& inst, std::size_t i) const {
    return (*this)(inst.results[i]) || (*this)(std::get<Loop>(inst.op).parameters[i]);
  }

 private:
  void mark(ValueId id) {
    changed_ = changed_ || !live_[index_of(id)];
    live_[index_of(id)] = true;
  }

  void block(const Block& b) {
    for (auto inst = b.insts.rbegin(); inst != b.insts.rend(); ++inst) {
      const Loop* loop = std::get_if<Loop>(&inst->op);
      if (loop != nullptr) body(*inst, *loop);
      if (!(*this)(*inst)) continue;
      if (loop == nullptr) {
        for_each_operand(inst->op, [this](ValueId id) { mark(id); });
      } else {
        mark(loop->begin);
        mark(loop->end);
      }
    }
  }

  void body(const Inst& inst, const Loop& loop) {
    block(loop.body);
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
      if (!carries(inst, i)) continue;
      mark(loop.carried[i]);
      mark(loop.body.yields[i]);
    }
  }

  std::vector<bool> live_;
  bool changed_ = false;
};

/// Takes out of a list what stands where `keep` is false.
void filter(std::vector<ValueId>& list, const std::vector<bool>& keep) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) list[next++] = list[i];
  }
  list.resize(next);
}

void remove_dead(Block& b, const Live& live) {
  std::erase_if(b.insts, [&](const Inst& inst) { return !live(inst); });
  for (Inst& inst : b.insts) {
    Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) continue;
    std::vector<bool> keep;
    for (std::size_t i = 0; i < loop->carried.size(); ++i) keep.push_back(live.carries(inst, i));
    for (auto* list : {&loop->carried, &loop->parameters, &loop->body.yields, &inst.results})
      filter(*list, keep);
    remove_dead(loop->body, live);
  }
}

}  // namespace

Uses::Uses(const Program& program)
    : definers_(program.types.size()), users_(program.types.size()), loops_(program.types.size()) {
  block(program.body, nullptr);
}

void Uses::define(ValueId id, const Inst& inst, const Inst* loop) {
  if (id == ValueId::none) return;
  definers_.at(index_of(id)) = &inst;
  loops_.at(index_of(id)) = loop;
}

void Uses::block(const Block& b, const Inst* around) {
  for (const Inst& inst : b.insts) {
    for_each_operand(inst.op, [&](ValueId id) { users_.at(index_of(id)).push_back(&inst); });
    for (ValueId id : inst.results) define(id, inst, around);
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) continue;
    define(loop->start, inst, &inst);
    define(loop->ticket, inst, &inst);
    for (ValueId id : loop->parameters) define(id, inst, &inst);
    block(loop->body, &inst);
    for (ValueId id : loop->body.yields) users_.at(index_of(id)).push_back(&inst);
  }
}

Program remove_unused(const Program& program) {
  Live live(program);
  Program result = program;
  remove_dead(result.body, live);
  return renumbered(std::move(result));
}

}  // namespace tessera
