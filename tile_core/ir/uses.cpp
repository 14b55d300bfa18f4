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
    if (!holds_any<Loop, If>(inst.op)) return !is_pure(inst.op);
    bool inside = false;
    for_each_block(inst.op, [&](const Block& b) {
      inside = inside || std::any_of(b.insts.begin(), b.insts.end(), *this);
    });
    return inside;
  }

  /// Whether a loop has to carry its i-th value, or a branch to yield it.
  bool carries(const Inst& inst, std::size_t i) const {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return (*this)(inst.results[i]);
    const bool starts = i == 0 && loop->draws_its_starts() && (*this)(inst);
    return starts || (*this)(inst.results[i]) || (*this)(loop->parameters[i]);
  }

 private:
  void mark(ValueId id) {
    if (id == ValueId::none) return;
    changed_ = changed_ || !live_[index_of(id)];
    live_[index_of(id)] = true;
  }

  void block(const Block& b) {
    for (auto inst = b.insts.rbegin(); inst != b.insts.rend(); ++inst) {
      for_each_block(inst->op, [&](const Block& inner) {
        block(inner);
        for (std::size_t i = 0; i < inner.yields.size(); ++i) {
          if (carries(*inst, i)) mark(inner.yields[i]);
        }
      });
      if ((*this)(*inst)) operands(*inst);
    }
  }

  void operands(const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return for_each_operand(inst.op, [this](ValueId id) { mark(id); });
    for (ValueId id : {loop->begin, loop->end, loop->step, loop->first_ticket}) mark(id);
    for (std::size_t i = 0; i < loop->carried.size(); ++i) {
      if (carries(inst, i)) mark(loop->carried[i]);
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
    if (!holds_any<Loop, If, Roles>(inst.op)) continue;
    std::vector<bool> keep;
    for (std::size_t i = 0; i < inst.results.size(); ++i) keep.push_back(live.carries(inst, i));
    if (Loop* loop = std::get_if<Loop>(&inst.op)) filter(loop->carried, keep), filter(loop->parameters, keep);
    for_each_block(inst.op, [&](Block& inner) {
      filter(inner.yields, keep);
      remove_dead(inner, live);
    });
    filter(inst.results, keep);
  }
}

}  // namespace

Uses::Uses(const Program& program)
    : definers_(program.types.size()), users_(program.types.size()), loops_(program.types.size()) {
  block(program.body, nullptr);
}

void Uses::define(ValueId id, const Inst& inst, const Inst* loop) {
  definers_.at(index_of(id)) = &inst;
  loops_.at(index_of(id)) = loop;
}

void Uses::block(const Block& b, const Inst* around) {
  for (const Inst& inst : b.insts) {
    for_each_operand(inst.op, [&](ValueId id) { users_.at(index_of(id)).push_back(&inst); });
    const Inst* inside = std::holds_alternative<Loop>(inst.op) ? &inst : around;
    for_each_definition(inst, [&](ValueId id) { define(id, inst, inside); });
    for (ValueId id : inst.results) define(id, inst, around);
    for_each_block(inst.op, [&](const Block& inner) {
      block(inner, inside);
      for (ValueId id : inner.yields) users_.at(index_of(id)).push_back(&inst);
    });
  }
}

Program remove_unused(const Program& program) {
  Live live(program);
  Program result = program;
  remove_dead(result.body, live);
  return renumbered(std::move(result));
}

}  // namespace tessera
