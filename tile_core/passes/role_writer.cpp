#include "tile_core/passes/role_writer.h"

#include <algorithm>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

/// Whether a loop's bounds are made inside the loop over tiles.
bool varies(const Loop& inner, const Loop& tiles) {
  auto bounds = [&](ValueId id) { return id == inner.begin || id == inner.end; };
  return std::any_of(tiles.body.insts.begin(), tiles.body.insts.end(), [&](const Inst& inst) {
    return std::any_of(inst.results.begin(), inst.results.end(), bounds);
  });
}

}  // namespace

Block RoleWriter::write(const Block& program) {
  Block body;
  b_.enter(&body);
  block(program);
  return body;
}

void RoleWriter::block(const Block& block) {
  for (const Inst& inst : block.insts) {
    bool shared = inst.results.size() == 1 && b_.knows(inst.result());  // the whole block has it
    if (!shared) instruction(inst);
    passed(inst);
  }
}

bool RoleWriter::streams(const Loop& loop) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const Stream& s) { return s.loop == &loop; });
}

const Stream* RoleWriter::stream_of(const Inst& inst) const {
  auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const Stream& s) { return s.load == &inst; });
  return found == streams_.end() ? nullptr : &*found;
}

Slot RoleWriter::slot(const Stream& stream) const {
  ValueId ticket = stream.loop == nullptr ? tile_ : tickets_.at(stream.loop);
  return {.channel = stream.id, .ticket = ticket};
}

std::vector<const Loop*> RoleWriter::varying(const Loop& tiles) const {
  std::vector<const Loop*> loops;
  for (const Inst& inst : tiles.body.insts) {
    const Loop* inner = std::get_if<Loop>(&inst.op);
    if (inner != nullptr && streams(*inner) && varies(*inner, tiles)) loops.push_back(inner);
  }
  return loops;
}

ValueId RoleWriter::number_of_tile(ValueId ticket) {
  if (!alternates()) return ticket;
  ValueId groups = b_.constant(sharing_.groups);
  return b_.arithmetic(BinaryFn::add, b_.arithmetic(BinaryFn::mul, ticket, groups), instance_);
}

/// From which tile a role goes to which: groups that alternate visit every other one.
void RoleWriter::walk(Loop& loop, const Loop& old) {
  loop.begin = b_.map(old.begin);
  loop.end = b_.map(old.end);
  if (tiles_.drawn()) {
    loop.begin = first_tile(loop.begin);
    loop.carried.push_back(loop.begin);
    loop.parameters.push_back(b_.define(old.start, kIndex));
    return;
  }
  loop.step = b_.map(old.step);
  if (!alternates()) return;
  ValueId skipped = b_.arithmetic(BinaryFn::mul, instance_, loop.step);
  loop.begin = b_.arithmetic(BinaryFn::add, loop.begin, skipped);
  ValueId groups = b_.constant(sharing_.groups);
  loop.step = b_.arithmetic(BinaryFn::mul, loop.step, groups);
}

void RoleWriter::tile_loop(const Inst& inst, const Loop& old) {
  Loop loop{.axis = AxisId::none};
  walk(loop, old);
  const std::vector<const Loop*> loops = varying(old);
  if (!loops.empty() && alternates()) {
    throw UserError::format(
        "tile error: '{}' has warpgroups alternate, but its loops run longer for some tiles than for others\n"
        "   help: share=together",
        p_.name);
  }
  ValueId zero = loops.empty() ? ValueId::none : b_.constant(0);
  for (const Loop* inner : loops) {
    loop.carried.push_back(zero);
    loop.parameters.push_back(b_.out().new_value(kIndex));
    bases_[inner] = loop.parameters.back();
  }
  if (!tiles_.drawn()) loop.start = b_.define(old.start, kIndex);
  loop.ticket = b_.out().new_value(kIndex);
  Block* outer = b_.enter(&loop.body);
  tile_ = number_of_tile(loop.ticket);
  if (tiles_.drawn()) begin_tile(loop.end, b_.map(old.step));
  block(old.body);
  if (tiles_.drawn()) loop.body.yields.push_back(next_tile(loop.end));
  for (const Loop* inner : loops) loop.body.yields.push_back(bases_.at(inner));
  b_.enter(outer);
  tile_ = ValueId::none;
  Inst result{{}, {}, inst.loc};
  for (std::size_t i = 0; i < loop.carried.size(); ++i) result.results.push_back(b_.out().new_value(kIndex));
  result.op = std::move(loop);
  b_.add(std::move(result));
}

ValueId RoleWriter::first_ticket(const Loop& old) {
  if (tile_ == ValueId::none) return ValueId::none;
  ValueId trips = b_.trips(b_.map(old.begin), b_.map(old.end), p_.axis(old.axis).extent);
  auto base = bases_.find(&old);
  if (base == bases_.end()) return b_.arithmetic(BinaryFn::mul, tile_, trips);
  ValueId first = base->second;
  base->second = b_.arithmetic(BinaryFn::add, first, trips);
  return first;
}

}  // namespace tessera
