#include "tile_core/interpreter/machine.h"

#include <fmt/format.h>

#include "tile_core/interpreter/dot.h"

namespace tessera::interpreter {

Machine::Machine(Run& run, Landing landing, int rank)
    : run_(run),
      rank_(rank),
      checked_(run.program.stage >= Stage::synced),
      issued_dots_checked_(run.program.stage >= Stage::device),
      lazy_(checked_ && landing == Landing::last),
      memory_(run),
      passing_(run, memory_, lazy_, rank) {
  instances_.emplace_back(run.program, rank);
  run_.use(instances_.front().frame);
}

void Machine::join(std::deque<Machine>& cluster) {
  std::vector<Passing*> blocks;
  for (Machine& machine : cluster) blocks.push_back(&machine.passing_);
  passing_.join(std::move(blocks));
}

Instance& Machine::enter_block() {
  memory_.clear();
  passing_.enter_block();
  static_cast<Progress&>(instances_.front()) = {};
  run_.use(instances_.front().frame);
  return instances_.front();
}

void Machine::leave_block() {
  leave(instances_.front());
  passing_.leave_block();
}

std::vector<Instance*> Machine::enter_roles(const Roles& roles) {
  if (instances_.size() == 1) {
    int number = 0;
    for (const Role& role : roles.roles) {
      for (int i = 0; i < role.instances; ++i) {
        const int in_cluster = static_cast<int>(instances_.size()) * run_.cluster() + rank_;
        instances_.emplace_back(run_.program, in_cluster, number, role, i);
        if (run_.program.launch.counter) instances_.back().name += fmt::format(" of block {}", run_.block());
        if (!run_.program.launch.cluster.alone())
          instances_.back().name += fmt::format(" of block {}", rank_);
      }
      ++number;
    }
  }
  std::vector<Instance*> result;
  for (std::size_t i = 1; i < instances_.size(); ++i) {
    Instance& instance = instances_[i];
    const Role& role = *instance.role;
    instance.enter(instances_.front().frame);
    if (role.instance != ValueId::none)
      instance.frame.values[index_of(role.instance)].elements = {static_cast<double>(instance.index)};
    if (instance.index == 0) {
      turns_[&role].assign(static_cast<std::size_t>(role.instances), {});
      turns_[&role].front().given = true;
    }
    result.push_back(&instance);
  }
  return result;
}

void Machine::leave(Instance& by) {
  passing_.leave(by);
  auto check = [&](const char* what, const char* label, const Inst* inst) {
    if (inst != nullptr)
      fail(run_.program, fmt::format("{} ends, but {}", by.name, what), {{label, inst, &by}});
  };
  const Transfer* copy = by.copies.unfinished();
  const Transfer* store = by.stores.unfinished();
  const auto* dot = by.dots.unfinished();
  check("no wait covers a copy", "copy", copy == nullptr ? nullptr : copy->inst);
  check("no wait covers a copy out", "store", store == nullptr ? nullptr : store->inst);
  check("no wait covers a dot", "dot", dot == nullptr ? nullptr : (*dot)->inst);
  check("has not passed its turn", "take", by.turn);
}

void Machine::execute(Instance&, const Inst& inst, const Channel& o) {
  memory_.define(inst.result());
  passing_.define(inst, o);
}

Place Machine::read(Instance& by, const Inst& inst, const Slot& slot, const char* what, Event event) {
  Place place = memory_.place(slot);
  passing_.check_reader(by, inst, place);
  if (!checked_) return place;
  bool asynchronous = event.agent == Agent::dots || event.agent == Agent::stores;
  memory_.read(place, {what, &inst, &by, event, asynchronous});
  return place;
}

Place Machine::write(Instance& by, const Inst& inst, const Slot& slot, const char* what, Event event) {
  Place place = memory_.place(slot);
  passing_.check_writer(by, inst, place);
  if (!checked_) return place;
  memory_.write(place, {what, &inst, &by, event});
  return place;
}

void Machine::execute(Instance& by, const Inst& inst, const PassSlot& o) {
  passing_.pass(by, inst, o);
}

void Machine::execute(Instance& by, const Inst&, const Barrier&) {
  by.barrier();
}

void Machine::execute(Instance& by, const Inst&, const FenceShared&) {
  by.own.learn(Event{Agent::fences, by.number, by.acts});
}

void Machine::execute(Instance& by, const Inst& inst, const WriteShared& o) {
  Place place = write(by, inst, o.to, "write", by.act());
  memory_.set(place, run_.arranged(place.axes, run_.tile(o.value)));
}

void Machine::read_tile(Instance& by, const Inst& inst, const Slot& slot) {
  Place place = read(by, inst, slot, "read", by.act());
  run_.value(inst.result()) = run_.arranged(run_.type(inst.result()).axes, {place.axes, memory_.get(place)});
}

void Machine::execute(Instance& by, const Inst& inst, const View& o) {
  read_tile(by, inst, o.slot);
}

void Machine::execute(Instance& by, const Inst& inst, const ReadShared& o) {
  read_tile(by, inst, o.from);
}

void Machine::execute(Instance& by, const Inst& inst, const DotShared& o) {
  const bool registers = o.a.value != ValueId::none;
  const Place a = registers ? Place() : read(by, inst, o.a.slot, "read", by.act());
  const Place b = read(by, inst, o.b, "read", by.act());
  const std::vector<AxisId>& axes = run_.type(inst.result()).axes;
  const Elements left = registers ? run_.value(o.a.value) : memory_.get(a);
  run_.value(inst.result()) = interpreter::dot(
      run_, axes, {registers ? run_.type(o.a.value).axes : a.axes, left}, {b.axes, memory_.get(b)}, o.axis,
      kind_of(o.a, o.b, o.precision), run_.arranged(axes, run_.tile(o.accumulator)));
}

void Machine::execute(Instance& by, const Inst& inst, const TakeTurn&) {
  Turn& turn = turns_.at(by.role).at(static_cast<std::size_t>(by.index));
  if (by.turn != nullptr)
    fail(run_.program, fmt::format("{} takes a turn, but has not passed the last", by.name),
         {{"here", &inst, &by}, {"take", by.turn, &by}});
  by.wait(
      inst, [&turn] { return turn.given; }, [] { return std::string("its turn"); });
  turn.given = false;
  by.learn(turn.clock);
  by.barrier();
  by.turn = &inst;
}

void Machine::execute(Instance& by, const Inst& inst, const PassTurn&) {
  std::vector<Turn>& turns = turns_.at(by.role);
  Turn& next = turns[static_cast<std::size_t>(by.index + 1) % turns.size()];
  if (by.turn == nullptr)
    fail(run_.program, fmt::format("{} passes a turn that it has not taken", by.name),
         {{"here", &inst, &by}, next.passed});
  next.given = true;
  next.clock.learn(by.own);
  next.passed = {"last", &inst, &by};
  by.turn = nullptr;
}

void Machine::execute(Instance&, const Inst& inst, const DrawTile& o) {
  run_.value(inst.result()) = {static_cast<double>(run_.draw(run_.scalar(o.tiles)))};
}

}  // namespace tessera::interpreter
