#include "tests/support/mutation.h"

#include <cmath>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera::test {
namespace {

bool synchronises(const Op& op) {
  return std::holds_alternative<WaitCopies>(op) || std::holds_alternative<CommitCopies>(op) ||
         std::holds_alternative<Barrier>(op);
}

/// Takes the n-th synchronising instruction out, or, where `weaken`, lets it wait for less.
void change(Block& block, int& n, bool weaken) {
  for (std::size_t i = 0; i < block.insts.size(); ++i) {
    Op& op = block.insts[i].op;
    if (Loop* loop = std::get_if<Loop>(&op)) change(loop->body, n, weaken);
    if (!synchronises(op) || n-- != 0) continue;
    if (weaken) {
      ++std::get<WaitCopies>(op).pending;
    } else {
      block.insts.erase(block.insts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return;
  }
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

}  // namespace

std::vector<std::string> unnoticed_changes(const Program& program, const Call& call) {
  std::vector<std::vector<double>> right = outputs(program, call);
  std::vector<std::string> result;
  int number = 0;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (!synchronises(inst.op)) return;
    for (bool weaken : {false, true}) {
      if (weaken && !std::holds_alternative<WaitCopies>(inst.op)) continue;
      Program changed = program;
      int n = number;
      change(changed.body, n, weaken);
      if (noticed(changed, call, right)) continue;
      result.push_back(fmt::format("{} {} of line {}", weaken ? "weaker" : "without", to_text(program, inst),
                                   inst.loc.line));
    }
    ++number;
  });
  return result;
}

}  // namespace tessera::test
