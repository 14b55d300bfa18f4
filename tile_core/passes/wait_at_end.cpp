#include "tile_core/passes/wait_at_end.h"

#include <algorithm>

#include "tile_core/ir/early_reads.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/trailing_dot.h"

namespace tessera {
namespace {

/// The barrier after the wait that a body starts with; only numbers are computed between them. 0: there is
/// none.
std::size_t barrier_of_wait(const std::vector<Inst>& body) {
  if (body.empty() || !std::holds_alternative<WaitCopies>(body.front().op)) return 0;
  const auto barrier = std::find_if(body.begin() + 1, body.end(), [](const Inst& inst) {
    return !holds_any<Constant, Size, Binary>(inst.op);
  });
  const bool found = barrier != body.end() && std::holds_alternative<Barrier>(barrier->op);
  return found ? static_cast<std::size_t>(barrier - body.begin()) : 0;
}

/// A wait of a trailing dot leaves copies pending: one for all would come right behind the last of them.
bool may_wait_earlier(const Loop& loop) {
  const bool pends = std::get<WaitCopies>(loop.body.insts.front().op).pending > 0;
  return (pends && trailing_dot(loop) != nullptr) || dot_of_kept_rows(loop) != nullptr;
}

bool copies(const Inst& inst) {
  bool found = std::holds_alternative<CopyIn>(inst.op);
  for_each_block(inst.op, [&](const Block& inner) {
    for_each_inst(inner, [&](const Inst& i) { found = found || std::holds_alternative<CopyIn>(i.op); });
  });
  return found;
}

/// A wait that follows one for all copies is taken away.
void rotate(Block& block) {
  std::vector<Inst> all;
  bool all_waited = false;
  for (Inst& inst : block.insts) {
    for_each_block(inst.op, [](Block& inner) { rotate(inner); });
    if (all_waited && std::holds_alternative<WaitCopies>(inst.op)) continue;
    all_waited = all_waited && !copies(inst);
    Loop* loop = std::get_if<Loop>(&inst.op);
    const std::size_t barrier = loop != nullptr ? barrier_of_wait(loop->body.insts) : 0;
    if (barrier > 0 && may_wait_earlier(*loop)) {
      std::vector<Inst>& body = loop->body.insts;
      const std::vector<Inst> waits{body.front(), body[barrier]};
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(barrier));
      body.erase(body.begin());
      body.insert(body.end(), waits.begin(), waits.end());
      all.insert(all.end(), waits.begin(), waits.end());
      all_waited = std::get<WaitCopies>(waits.front().op).pending == 0;
    }
    all.push_back(std::move(inst));
  }
  block.insts = std::move(all);
}

}  // namespace

Program with_waits_at_end(Program program) {
  rotate(program.body);
  return program;
}

}  // namespace tessera
