#include "tile_core/passes/lag_copies.h"

#include <algorithm>
#include <vector>

#include "tile_core/ir/operands.h"
#include "tile_core/passes/flights.h"
#include "tile_core/passes/loop_arithmetic.h"

namespace tessera {
namespace {

/// The channel whose barriers a copy or a passing belongs to; none of other instructions.
ValueId barriers_of(const Program& program, const Inst& inst) {
  const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
  if (copy != nullptr) return tessera::barriers_of(program, copy->to.channel);
  const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
  return pass == nullptr ? ValueId::none : tessera::barriers_of(program, pass->slot.channel);
}

class RotateCopies {
 public:
  RotateCopies(Rewriter& r, const Inst& inst, const std::set<ValueId>& trailing)
      : r_(r), inst_(inst), old_(std::get<Loop>(inst.op)), at_(r, inst) {
    for (const Inst& i : old_.body.insts) {
      ValueId channel = barriers_of(r.in(), i);
      bool trails = channel != ValueId::none && trailing.contains(channel);
      if (!trails) leads_.push_back(&i);
      if (trails || channel == ValueId::none) trails_.push_back(&i);  // what both need is made twice
    }
  }

  void run() {
    begin_ = {r_.map(old_.begin),
              old_.first_ticket == ValueId::none ? at_.constant(0) : r_.map(old_.first_ticket)};
    const ValueId end = r_.map(old_.end);
    Loop now{.axis = old_.axis, .begin = begin_.start, .end = end, .pipelined = old_.pipelined};
    now.first_ticket = begin_.ticket;
    now.start = r_.define({.dtype = i64});
    now.ticket = r_.define({.dtype = i64});
    now.body = r_.emit_block([&] {
      const LoopArithmetic::Place here{now.start, now.ticket};
      copy(leads_, here);
      where(begin_.start, now.start, [&] { copy(trails_, at_.before(here)); });
      return std::vector<ValueId>();
    });
    r_.emit_statement(std::move(now), inst_.loc);
    where(begin_.start, end, [&] { copy(trails_, at_.last(begin_, end)); });
  }

 private:
  void copy(const std::vector<const Inst*>& insts, LoopArithmetic::Place place) {
    r_.replace(old_.start, place.start);
    r_.replace(old_.ticket, place.ticket);
    for (const Inst* inst : insts) r_.copy(*inst);
  }

  /// Emits what `fill` does where a < b.
  template <typename Fill>
  void where(ValueId a, ValueId b, const Fill& fill) {
    If branch{.condition = at_.less(a, b), .then = {}, .otherwise = {}};
    branch.then = r_.emit_block([&] {
      fill();
      return std::vector<ValueId>();
    });
    r_.emit_statement(std::move(branch), inst_.loc);
  }

  Rewriter& r_;
  const Inst& inst_;
  const Loop& old_;
  LoopArithmetic at_;
  LoopArithmetic::Place begin_;
  std::vector<const Inst*> leads_, trails_;
};

}  // namespace

bool copies_for_trailing(const Program& program, const Loop& loop, const std::set<ValueId>& trailing) {
  bool trails = false, leads = false;
  for (const Inst& inst : loop.body.insts) {
    if (!std::holds_alternative<CopyIn>(inst.op)) continue;
    (trailing.contains(barriers_of(program, inst)) ? trails : leads) = true;
  }
  return trails && leads && loop.ticket != ValueId::none && loop.carried.empty();
}

void rotate_copies(Rewriter& r, const Inst& inst, const std::set<ValueId>& trailing) {
  RotateCopies(r, inst, trailing).run();
}

}  // namespace tessera
