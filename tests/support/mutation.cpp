#include "tests/support/mutation.h"

#include <cmath>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"

namespace tessera::test {
namespace {

bool waits(const Op& op) {
  return std::holds_alternative<WaitCopies>(op) || std::holds_alternative<Barrier>(op);
}
bool commits(const Op& op) {
  return std::holds_alternative<CommitCopies>(op);
}

/// Takes the n-th of such instructions out, or, where `weaken`, lets it wait for less.
void change(Block& block, bool (*such)(const Op&), int& n, bool weaken) {
  for (std::size_t i = 0; i < block.insts.size(); ++i) {
    Op& op = block.insts[i].op;
    if (Loop* loop = std::get_if<Loop>(&op)) change(loop->body, such, n, weaken);
    if (!such(op) || n-- != 0) continue;
    if (weaken) {
      ++std::get<WaitCopies>(op).pending;
    } else {
      block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return;
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

bool same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      if (a[i][j] != b[i][j] && !(std::isnan(a[i][j]) && std::isnan(b[i][j]))) return false;
    }
  }
  return true;
}

bool noticed(const Program& changed, const Call& call, const std::vector<std::vector<double>>& right) {
  try {
    return !same_bits(outputs(changed, call, Landing::last), right) ||
           !same_bits(outputs(changed, call, Landing::first), right);
  } catch (const InternalError&) {
    return true;
  }
}

std::vector<Change> without(const Program& program, bool (*such)(const Op&)) {
  std::vector<Change> changes;
  int number = 0;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (!such(inst.op)) return;
    for (bool weaken : {false, true}) {
      if (weaken && !std::holds_alternative<WaitCopies>(inst.op)) continue;
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
