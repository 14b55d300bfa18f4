#include "tests/support/mutation.h"

#include <algorithm>
#include <cmath>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"

namespace tessera::test {
namespace {

template <typename... Operations>
bool is_one_of(const Op& op) {
  return (std::holds_alternative<Operations>(op) || ...);
}

bool passes_on(const Op& op) {
  const PassSlot* pass = std::get_if<PassSlot>(&op);
  return pass != nullptr && (pass->step == SlotStep::commit || pass->step == SlotStep::release);
}
bool waits(const Op& op) {
  return is_one_of<WaitCopies, WaitDots, WaitStores, Barrier, FenceShared, FenceDots, TakeTurn>(op) ||
         (is_one_of<PassSlot>(op) && !passes_on(op));
}
bool commits(const Op& op) {
  return is_one_of<CommitCopies, CommitDots, CommitStores, PassTurn>(op) || passes_on(op);
}

/// The groups that a wait leaves unfinished; null of an operation that waits for none.
int* pending(Op& op) {
  if (auto* o = std::get_if<WaitCopies>(&op)) return &o->pending;
  if (auto* o = std::get_if<WaitStores>(&op)) return &o->pending;
  if (auto* o = std::get_if<WaitDots>(&op)) return &o->pending;
  return nullptr;
}

bool gives_values(const Inst& inst) {
  return !inst.results.empty();
}

/// Takes the n-th of such instructions out, or, where `weaken`, lets it wait for less.
void change(Block& block, bool (*such)(const Op&), int& n, bool weaken) {
  for (std::size_t i = 0; i < block.insts.size(); ++i) {
    Inst& inst = block.insts[i];
    if (such(inst.op) && n-- == 0) {
      if (weaken) {
        ++*pending(inst.op);
      } else {
        block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(i));
      }
      return;
    }
    for_each_block(inst.op, [&](Block& inner) {
      if (n >= 0) change(inner, such, n, weaken);
    });
    if (n < 0) return;
  }
}

std::string describe(const char* how, const Program& program, const Inst& inst) {
  return fmt::format("{} {} of line {}", how, to_text(program, inst), inst.loc.line);
}

/// The program in which an instruction's result stands for the value `instead`.
Program replaced(const Program& program, const Inst& inst, ValueId instead) {
  ValueId result = inst.result();
  return rewrite(program, [&](Rewriter& r, const Inst& i) {
    if (i.results.empty() || i.result() != result) return false;
    r.replace(result, r.map(instead));
    return true;
  });
}

bool is_bound(const Uses& uses, ValueId id) {
  const Binary* o = std::get_if<Binary>(&uses.definer(id).op);
  if (o == nullptr || (o->fn != BinaryFn::lt && o->fn != BinaryFn::le)) return false;
  const Op& a = uses.definer(o->a).op;
  const Op& b = uses.definer(o->b).op;
  return (std::holds_alternative<Index>(a) && std::holds_alternative<Size>(b)) ||
         (std::holds_alternative<Constant>(a) && std::holds_alternative<Index>(b));
}

/// A zero of the other sign is no difference: what only that shows counts as unnoticed.
bool same_numbers(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      if (a[i][j] != b[i][j] && !(std::isnan(a[i][j]) && std::isnan(b[i][j]))) return false;
    }
  }
  return true;
}

bool noticed(const Program& changed, const Call& call, const std::vector<std::vector<double>>& right) {
  auto differs = [&](const InterpretOptions& options) {
    try {
      return !same_numbers(outputs(changed, call, options), right);
    } catch (const InternalError&) {
      return true;
    }
  };
  std::vector<InterpretOptions> options = schedules(changed);
  return std::any_of(options.begin(), options.end(), differs);
}

std::vector<Change> without(const Program& program, bool (*such)(const Op&)) {
  std::vector<Change> changes;
  int number = 0;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (!such(inst.op)) return;
    Op op = inst.op;
    for (bool weaken : {false, true}) {
      if (weaken ? pending(op) == nullptr : gives_values(inst)) continue;
      changes.push_back({describe(weaken ? "weaker" : "without", program, inst), program});
      int n = number;
      change(changes.back().program.body, such, n, weaken);
    }
    ++number;
  });
  return changes;
}

}  // namespace

std::vector<Change> without_waits(const Program& program) {
  return without(program, waits);
}

std::vector<Change> without_commits(const Program& program) {
  return without(program, commits);
}

std::vector<Change> without_masks(const Program& program) {
  std::vector<Change> changes;
  Uses uses(program);
  for_each_inst(program.body, [&](const Inst& inst) {
    const Select* select = std::get_if<Select>(&inst.op);
    const Binary* both = std::get_if<Binary>(&inst.op);
    if (both != nullptr && both->fn == BinaryFn::logical_and && is_bound(uses, both->a) &&
        is_bound(uses, both->b)) {
      changes.push_back({describe("the second side of", program, inst), replaced(program, inst, both->b)});
      changes.push_back({describe("the first side of", program, inst), replaced(program, inst, both->a)});
    }
    if (select == nullptr) return;
    const Binary* condition = std::get_if<Binary>(&uses.definer(select->condition).op);
    bool two_ends = condition != nullptr && condition->fn == BinaryFn::logical_and &&
                    is_bound(uses, condition->a) && is_bound(uses, condition->b);
    if (two_ends || is_bound(uses, select->condition))
      changes.push_back({describe("without", program, inst), replaced(program, inst, select->a)});
  });
  return changes;
}

std::vector<std::string> unnoticed(const std::vector<Change>& changes, const Program& program,
                                   const std::vector<Call>& calls) {
  std::vector<std::vector<std::vector<double>>> right;
  for (const Call& call : calls) right.push_back(outputs(program, call));
  std::vector<std::string> result;
  for (const Change& change : changes) {
    bool seen = false;
    for (std::size_t i = 0; i < calls.size() && !seen; ++i)
      seen = noticed(change.program, calls[i], right[i]);
    if (!seen) result.push_back(change.what);
  }
  return result;
}

}  // namespace tessera::test
