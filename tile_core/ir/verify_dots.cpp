#include <map>
#include <set>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// Groups that have been committed since a dot was issued, its own included; 0: its group is open.
using Age = int;

/// The newest dot in a pending value.
struct Flight {
  Age age = 0;
  bool carried = false;  ///< from the iteration before
  bool operator==(const Flight&) const = default;
};

/// Where the dots of a role stand at a point of its program.
struct State {
  bool fenced = false;                ///< since the last commit
  bool over_back = false;             ///< dots were issued while those of the iteration before were in flight
  std::set<ValueId> written;          ///< registers, since the last fence
  std::set<ValueId> taken;            ///< pending values that a later dot has added to
  std::map<ValueId, Flight> pending;  ///< those in flight: no wait has covered their groups
  std::map<ValueId, Age> read;        ///< registers that dots in flight read
  bool operator==(const State&) const = default;
};

/// What holds where control comes from either: the younger dot counts.
State joined(State a, const State& b) {
  a.fenced = a.fenced && b.fenced;
  a.over_back = a.over_back || b.over_back;
  a.written.insert(b.written.begin(), b.written.end());
  a.taken.insert(b.taken.begin(), b.taken.end());
  for (const auto& [id, flight] : b.pending) {
    auto [both, fresh] = a.pending.try_emplace(id, flight);
    if (!fresh)
      both->second = {std::min(both->second.age, flight.age), both->second.carried || flight.carried};
  }
  for (const auto& [id, age] : b.read) {
    auto [both, fresh] = a.read.try_emplace(id, age);
    if (!fresh) both->second = std::min(both->second, age);
  }
  return a;
}

/// Walks the program of one role. ptxas keeps dots in flight only where they follow these rules; elsewhere it
/// waits for each without a word.
class DotRules {
 public:
  explicit DotRules(const Program& program) : p_(program) {}

  void role(const Block& body) {
    State state = block(body, {});
    if (state.pending.empty()) return;
    ValueId id = state.pending.begin()->first;
    fail_verify(p_, fmt::format("the dot of {} is in flight where its role ends", name_of(p_, id)));
  }

 private:
  State block(const Block& body, State state) {
    for (const Inst& inst : body.insts) instruction(inst, state);
    return state;
  }

  void instruction(const Inst& inst, State& state) {
    if (const auto* o = std::get_if<Loop>(&inst.op)) return loop(inst, *o, state);
    if (const auto* o = std::get_if<If>(&inst.op)) return branch(inst, *o, state);
    if (const auto* o = std::get_if<IssueDot>(&inst.op)) return issue(inst, *o, state);
    if (const auto* o = std::get_if<WaitDots>(&inst.op)) return wait(inst, *o, state);
    if (std::holds_alternative<FenceDots>(inst.op)) {
      state.fenced = true;
      state.written.clear();
    } else if (std::holds_alternative<CommitDots>(inst.op)) {
      commit(state);
    } else {
      for (ValueId id : inst.results) define(inst, id, state);
    }
  }

  void define(const Inst& inst, ValueId id, State& state) const {
    not_read(inst, id, state);
    state.written.insert(id);
    state.taken.erase(id);
  }

  void issue(const Inst& inst, const IssueDot& o, State& state) const {
    bool open = std::any_of(state.pending.begin(), state.pending.end(),
                            [](const auto& entry) { return entry.second.age == 0; });
    if (!open && !state.fenced)
      fail_verify(p_, inst, "no fence_dots stands before the first dot of its group");
    for (ValueId id : {o.a.value, o.accumulator}) {
      if (state.written.contains(id))
        fail_verify(p_, inst, fmt::format("{} is written after the fence_dots of its dot", name_of(p_, id)));
    }
    for (const auto& [id, flight] : state.pending) state.over_back = state.over_back || flight.carried;
    if (o.accumulator != ValueId::none && p_.type(o.accumulator).pending) take(inst, o.accumulator, state);
    state.taken.erase(inst.result());
    state.pending[inst.result()] = {.age = 0};
    if (o.a.value != ValueId::none) state.read[o.a.value] = 0;
  }

  /// A dot or a wait goes on from a pending value, in the same registers.
  void take(const Inst& inst, ValueId id, State& state) const {
    if (!state.taken.insert(id).second)
      fail_verify(p_, inst, fmt::format("a dot or a wait has gone on from {} already", name_of(p_, id)));
    state.pending.erase(id);
  }

  static void commit(State& state) {
    for (auto& [id, flight] : state.pending) ++flight.age;
    for (auto& [id, age] : state.read) ++age;
    state.fenced = false;
  }

  void wait(const Inst& inst, const WaitDots& o, State& state) const {
    if (!o.values.empty() && state.over_back) {
      fail_verify(
          p_, inst,
          "a dot is read in an iteration that issued dots over those of the one before: begin it with "
          "wait_dots 0");
    }
    for (ValueId id : o.values) {
      auto flight = state.pending.find(id);
      if (flight != state.pending.end()) covers(inst, o, id, flight->second);
      take(inst, id, state);
    }
    std::erase_if(state.pending, [&](const auto& entry) { return entry.second.age > o.pending; });
    std::erase_if(state.read, [&](const auto& entry) { return entry.second > o.pending; });
    for (ValueId id : inst.results) define(inst, id, state);
  }

  void covers(const Inst& inst, const WaitDots& o, ValueId id, const Flight& flight) const {
    if (flight.age <= o.pending)
      fail_verify(p_, inst, fmt::format("the wait does not cover the dot of {}", name_of(p_, id)));
    if (flight.carried && o.pending > 0) {
      fail_verify(p_, inst,
                  fmt::format("the dot of {} was issued in the iteration before: only wait_dots 0 ends it",
                              name_of(p_, id)));
    }
  }

  void branch(const Inst& inst, const If& o, State& state) {
    State then = block(o.then, state);
    State otherwise = block(o.otherwise, std::move(state));
    for (std::size_t i = 0; i < inst.results.size(); ++i) {
      moved(o.then.yields[i], inst.results[i], then);
      moved(o.otherwise.yields[i], inst.results[i], otherwise);
    }
    state = joined(std::move(then), otherwise);
  }

  /// A value takes another name: what is in flight in it goes along.
  void moved(ValueId from, ValueId to, State& state) const {
    state.written.insert(to);
    state.taken.erase(to);
    if (auto flight = state.pending.extract(from); !flight.empty()) {
      flight.key() = to;
      state.pending.insert(std::move(flight));
    }
  }

  /// A loop is entered from before and from its own end: walked until the state at its head holds for both.
  void loop(const Inst& inst, const Loop& o, State& state) {
    const bool over_back = state.over_back;
    State head = at_head(inst, o, o.carried, std::move(state), "a loop begins");
    for (bool stable = false; !stable;) {
      State end = at_head(inst, o, o.body.yields, block(o.body, head), "an iteration ends");
      State both = joined(head, end);
      stable = both == head;
      head = std::move(both);
    }
    state = std::move(head);
    state.over_back = over_back;
    for (std::size_t i = 0; i < inst.results.size(); ++i) moved(o.parameters[i], inst.results[i], state);
  }

  /// The state at a loop's head where `values` enter its parameters: nothing else may be in flight.
  State at_head(const Inst& inst, const Loop& o, const std::vector<ValueId>& values, State state,
                const char* where) const {
    State head{.taken = std::move(state.taken), .read = std::move(state.read)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      head.taken.erase(o.parameters[i]);
      if (values[i] != o.parameters[i]) not_read(inst, o.parameters[i], head);
      auto from = state.pending.find(values[i]);
      if (from == state.pending.end()) continue;
      if (from->second.age == 0)
        fail_verify(p_, inst,
                    fmt::format("the dot of {} is not committed where {}", name_of(p_, values[i]), where));
      head.pending[o.parameters[i]] = {from->second.age, true};
    }
    for (ValueId id : values) state.pending.erase(id);
    if (state.pending.empty()) return head;
    fail_verify(p_, inst,
                fmt::format("the dot of {} is in flight where {}, but the loop does not carry it",
                            name_of(p_, state.pending.begin()->first), where));
  }

  void not_read(const Inst& inst, ValueId id, const State& state) const {
    if (!state.read.contains(id)) return;
    fail_verify(p_, inst, fmt::format("a dot in flight reads {}, which is written again", name_of(p_, id)));
  }

  const Program& p_;
};

}  // namespace

void verify_dots(const Program& program) {
  const Inst* last = program.body.insts.empty() ? nullptr : &program.body.insts.back();
  const Roles* roles = last == nullptr ? nullptr : std::get_if<Roles>(&last->op);
  if (roles == nullptr) return DotRules(program).role(program.body);
  for (const Role& role : roles->roles) DotRules(program).role(role.body);
}

}  // namespace tessera
