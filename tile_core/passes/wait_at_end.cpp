#include "tile_core/passes/wait_at_end.h"

#include <algorithm>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/trailing_dot.h"

namespace tessera {
namespace {

constexpr int kWaits = 2;  // a wait and its barrier

/// Whether the body starts with a wait and its barrier, and the wait leaves copies pending: one for all would
/// come right behind the last of them.
bool may_wait_earlier(const Loop& loop) {
  const std::vector<Inst>& body = loop.body.insts;
  if (body.size() < kWaits || !std::holds_alternative<Barrier>(body[1].op)) return false;
  const WaitCopies* wait = std::get_if<WaitCopies>(&body.front().op);
  return wait != nullptr && wait->pending > 0 && trailing_dot(loop) != nullptr;
}

void rotate(Block& block) {
  std::vector<Inst> all;
  for (Inst& inst : block.insts) {
    for_each_block(inst.op, [](Block& inner) { rotate(inner); });
    Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop != nullptr && may_wait_earlier(*loop)) {
      std::vector<Inst>& body = loop->body.insts;
      all.insert(all.end(), body.begin(), body.begin() + kWaits);
      std::rotate(body.begin(), body.begin() + kWaits, body.end());
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
