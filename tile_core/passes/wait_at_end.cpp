#include "tile_core/passes/wait_at_end.h"

#include <algorithm>
#include <iterator>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/trailing_dot.h"

namespace tessera {
namespace {

bool is_wait(const Inst& inst) {
  return std::holds_alternative<WaitCopies>(inst.op) || std::holds_alternative<Barrier>(inst.op);
}

/// Whether it starts with a wait that leaves copies pending: one for all would come right behind the last of
/// them.
bool may_wait_earlier(const Loop& loop) {
  const std::vector<Inst>& body = loop.body.insts;
  const WaitCopies* wait = body.empty() ? nullptr : std::get_if<WaitCopies>(&body.front().op);
  return wait != nullptr && wait->pending > 0 && trailing_dot(loop) != nullptr;
}

void rotate(Block& block) {
  std::vector<Inst> all;
  for (Inst& inst : block.insts) {
    for_each_block(inst.op, [](Block& inner) { rotate(inner); });
    Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop != nullptr && may_wait_earlier(*loop)) {
      std::vector<Inst>& body = loop->body.insts;
      const auto waits_end = std::find_if_not(body.begin(), body.end(), is_wait);
      const std::vector<Inst> waits(body.begin(), waits_end);
      body.erase(body.begin(), waits_end);
      std::ranges::copy(waits, std::back_inserter(body));
      std::ranges::copy(waits, std::back_inserter(all));
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
