#include "tile_core/passes/flights.h"

#include <algorithm>
#include <utility>

#include "tile_core/ir/operands.h"

namespace tessera {

ValueId barriers_of(const Program& program, ValueId channel) {
  for (const Inst& inst : program.body.insts) {
    const Channel* op = std::get_if<Channel>(&inst.op);
    if (op != nullptr && inst.result() == channel) return op->with == ValueId::none ? channel : op->with;
  }
  return channel;
}

std::optional<int> Flights::group_of(ValueId old) const {
  auto found = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& f) { return f.old == old; });
  return found == flights_.end() ? std::nullopt : std::optional(found->group);
}

std::optional<int> Flights::reader_of(ValueId channel) const {
  std::optional<int> group;
  for (const Flight& f : flights_) {
    bool reads = std::any_of(f.channels.begin(), f.channels.end(),
                             [&](ValueId id) { return barriers_of(b_.out(), id) == channel; });
    if (reads) group = std::max(group.value_or(f.group), f.group);
  }
  return group;
}

void Flights::add(Flight flight, ValueId accumulator, Loc loc) {
  if (!std::exchange(open_, true)) b_.statement(FenceDots{}, loc);
  flight.group = groups_;
  std::erase_if(flights_, [&](const Flight& f) { return f.old == accumulator; });
  flights_.push_back(std::move(flight));
}

void Flights::restart() {
  flights_.clear();
  groups_ = 0;
}

void Flights::close_group() {
  if (!std::exchange(open_, false)) return;
  b_.statement(CommitDots{});
  ++groups_;
}

void Flights::settle(int last_group) {
  close_group();
  Inst wait{{}, {}, {}};
  WaitDots op{.pending = std::max(0, groups_ - last_group - 1), .values = {}};
  std::vector<Flight> left;
  for (Flight& flight : flights_) {
    if (flight.group > last_group) {
      left.push_back(std::move(flight));
      continue;
    }
    ValueId pending = b_.map(flight.old);
    Type type = b_.out().type(pending);
    type.pending = false;
    op.values.push_back(pending);
    wait.results.push_back(b_.define(flight.old, std::move(type)));
  }
  flights_ = std::move(left);
  if (op.values.empty()) return;
  wait.op = std::move(op);
  b_.add(std::move(wait));
  for (Inst& inst : std::exchange(owed_, {})) b_.add(std::move(inst));
}

void Flights::settle_operands(const Inst& inst) {
  std::optional<int> last;
  for_each_operand(inst.op, [&](ValueId id) {
    if (std::optional<int> group = group_of(id)) last = std::max(last.value_or(*group), *group);
  });
  if (last) settle(*last);
}

}  // namespace tessera
