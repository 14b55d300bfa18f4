#include "tile_core/passes/lower_roles.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/role_builder.h"
#include "tile_core/passes/store_slices.h"

namespace tessera {
namespace {

const Type kIndex{.dtype = i64};
const Type kCondition{.dtype = boolean};

/// A dot that is issued and not waited for.
struct Flight {
  ValueId old{};  ///< its result in the program that is lowered
  std::vector<ValueId> channels;
};

class LowerRole {
 public:
  LowerRole(RoleBuilder builder, const Uses& uses, StoreSlicer& stores, const Role& role)
      : b_(std::move(builder)), p_(b_.in()), uses_(uses), stores_(stores), role_(role) {}

  Role run() {
    Role lowered = role_;
    if (role_.instance != ValueId::none)
      lowered.instance = b_.define(role_.instance, p_.type(role_.instance));
    lowered.body = {};
    b_.enter(&lowered.body);
    block(role_.body, lowered.body, nullptr);
    return lowered;
  }

 private:
  // ---- dots in flight ----

  bool in_flight(ValueId old) const {
    return std::any_of(flights_.begin(), flights_.end(), [&](const Flight& f) { return f.old == old; });
  }

  void close_group() {
    if (!std::exchange(open_, false)) return;
    b_.statement(CommitDots{});
    ++groups_;
  }

  /// Waits for everything in flight; its results are tiles from here on, and the slots that it owed go back.
  void settle() {
    if (flights_.empty()) return;
    close_group();
    Inst wait{{}, {}, {}};
    WaitDots op;
    for (const Flight& flight : flights_) {
      ValueId pending = b_.map(flight.old);
      Type type = b_.out().type(pending);
      type.pending = false;
      op.values.push_back(pending);
      wait.results.push_back(b_.define(flight.old, std::move(type)));
    }
    wait.op = std::move(op);
    b_.add(std::move(wait));
    flights_.clear();
    for (Inst& release : std::exchange(owed_, {})) b_.add(std::move(release));
  }

  void settle_operands(const Inst& inst) {
    bool used = false;
    for_each_operand(inst.op, [&](ValueId id) { used = used || in_flight(id); });
    if (used) settle();
  }

  /// The value of a dot that only becomes the next iteration's accumulator may stay in flight.
  bool only_accumulates(const Loop& loop, std::size_t i) const {
    const auto& users = uses_.users(loop.parameters[i]);
    if (users.size() != 1) return false;
    const Dot* dot = std::get_if<Dot>(&users.front()->op);
    if (dot == nullptr || dot->accumulator != loop.parameters[i]) return false;
    ValueId result = users.front()->result();
    const auto& of_result = uses_.users(result);
    return loop.body.yields[i] == result && of_result.size() == 1 && uses_.loop_of(result) != nullptr &&
           &std::get<Loop>(uses_.loop_of(result)->op) == &loop;
  }

  // ---- instructions ----

  void block(const Block& in, Block& out, const Loop* around) {
    for (const Inst& inst : in.insts) instruction(inst, around);
    for (ValueId id : in.yields) {
      if (around == nullptr && in_flight(id)) settle();
    }
    if (around == nullptr) settle();
    for (ValueId id : in.yields) out.yields.push_back(b_.map(id));
  }

  void instruction(const Inst& inst, const Loop* around) {
    if (const View* view = std::get_if<View>(&inst.op)) {
      views_[inst.result()] = std::get<View>(b_.mapped(*view)).slot;
    } else if (const Dot* dot = std::get_if<Dot>(&inst.op)) {
      issue(inst, *dot);
    } else if (const PassSlot* pass = std::get_if<PassSlot>(&inst.op)) {
      pass_slot(inst, *pass, around);
    } else if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      this->loop(inst, *loop);
    } else if (std::holds_alternative<Convert>(inst.op)) {
      throw UserError::format(
          "tile error: a role of '{}' would have to move a tile between layouts: {}\n   help: a schedule "
          "with "
          "warps= does the dots by FMA, and can",
          p_.name, inst.loc.file);
    } else {
      settle_operands(inst);
      if (std::holds_alternative<Store>(inst.op) && stores_.store(b_, inst, instance())) return;
      copy(inst);
    }
  }

  ValueId instance() const {
    return role_.instance == ValueId::none ? ValueId::none : b_.map(role_.instance);
  }

  void copy(const Inst& inst) {
    Inst now{{}, b_.mapped(inst.op), inst.loc};
    for (ValueId id : inst.results) now.results.push_back(b_.define(id, p_.type(id)));
    b_.add(std::move(now));
  }

  void issue(const Inst& inst, const Dot& dot) {
    if (in_flight(dot.a)) settle();
    bool accumulates = dot.accumulator != ValueId::none;
    if (accumulates && in_flight(dot.accumulator) && !carried_.contains(dot.accumulator)) settle();
    Flight flight{.old = inst.result(), .channels = {}};
    auto slot_of = [&](ValueId old) {
      const Slot& slot = views_.at(old);
      flight.channels.push_back(slot.channel);
      return slot;
    };
    IssueDot op{.axis = dot.axis};
    if (views_.contains(dot.a)) {
      op.a.slot = slot_of(dot.a);
    } else {
      op.a.value = b_.map(dot.a);
    }
    op.b = slot_of(dot.b);
    if (accumulates) op.accumulator = b_.map(dot.accumulator);
    if (!std::exchange(open_, true)) b_.statement(FenceDots{}, inst.loc);
    Type type = p_.type(inst.result());
    type.pending = true;
    Inst now{{b_.define(inst.result(), std::move(type))}, std::move(op), inst.loc};
    b_.add(std::move(now));
    std::erase_if(flights_, [&](const Flight& f) { return f.old == dot.accumulator; });
    flights_.push_back(std::move(flight));
  }

  bool read_in_flight(ValueId channel) const {
    return std::any_of(flights_.begin(), flights_.end(), [&](const Flight& f) {
      return std::any_of(f.channels.begin(), f.channels.end(),
                         [&](ValueId id) { return root(id) == channel; });
    });
  }

  /// The channel whose barriers it has.
  ValueId root(ValueId channel) const {
    for (const Inst& inst : b_.out().body.insts) {
      const Channel* op = std::get_if<Channel>(&inst.op);
      if (op != nullptr && inst.result() == channel) return op->with == ValueId::none ? channel : op->with;
    }
    return channel;
  }

  void pass_slot(const Inst& inst, const PassSlot& pass, const Loop* around) {
    PassSlot now = std::get<PassSlot>(b_.mapped(pass));
    bool back = pass.step == SlotStep::release;
    if (back && read_in_flight(now.slot.channel)) {
      if (stays_in_flight(around)) return release_previous(inst, now, *around);
      settle();
    }
    if (!back) close_group();  // the wait may take long: what is issued should run
    b_.statement(now, inst.loc);
  }

  /// Whether all that is in flight may cross the back edge.
  bool stays_in_flight(const Loop* around) const {
    if (around == nullptr) return false;
    return std::all_of(flights_.begin(), flights_.end(), [&](const Flight& f) {
      for (std::size_t i = 0; i < around->parameters.size(); ++i) {
        if (around->body.yields[i] == f.old && only_accumulates(*around, i)) return true;
      }
      return false;
    });
  }

  /// The slot of the iteration before goes back: its dots have finished when only this iteration's are left.
  void release_previous(const Inst& inst, const PassSlot& now, const Loop& around) {
    close_group();
    if (!std::exchange(waited_, true)) b_.add({{}, WaitDots{.pending = groups_, .values = {}}, inst.loc});
    ValueId later = b_.emit(Binary{BinaryFn::lt, b_.map(around.begin), b_.map(around.start)}, kCondition);
    ValueId one = b_.constant(1);
    PassSlot previous = now;
    previous.slot.ticket = b_.arithmetic(BinaryFn::sub, now.slot.ticket, one);
    If branch{.condition = later, .then = {}, .otherwise = {}};
    branch.then.insts.push_back({{}, previous, inst.loc});
    b_.statement(std::move(branch), inst.loc);
    last_.push_back(now);
  }

  void loop(const Inst& inst, const Loop& old) {
    settle();
    Loop now = old;
    now.begin = b_.map(old.begin), now.end = b_.map(old.end);
    for (ValueId* id : {&now.step, &now.first_ticket}) *id = *id == ValueId::none ? *id : b_.map(*id);
    now.start = b_.define(old.start, kIndex);
    if (old.ticket != ValueId::none) now.ticket = b_.define(old.ticket, kIndex);
    now.carried.clear(), now.parameters.clear(), now.body = {};
    std::vector<bool> pending;
    for (std::size_t i = 0; i < old.parameters.size(); ++i) {
      pending.push_back(only_accumulates(old, i));
      Type type = p_.type(old.parameters[i]);
      type.pending = pending.back();
      now.carried.push_back(b_.map(old.carried[i]));
      now.parameters.push_back(b_.define(old.parameters[i], std::move(type)));
      if (!pending.back()) continue;
      flights_.push_back({.old = old.parameters[i], .channels = {}});
      carried_.insert(old.parameters[i]);
    }
    groups_ = 0, waited_ = false;
    Block* outer = b_.enter(&now.body);
    body(old, now, pending);
    b_.enter(outer);
    leave(inst, old, std::move(now), pending);
  }

  void body(const Loop& old, Loop& now, const std::vector<bool>& pending) {
    for (const Inst& inst : old.body.insts) instruction(inst, &old);
    close_group();
    bool drained = false;
    for (const Flight& flight : flights_) {
      auto yield = std::find(old.body.yields.begin(), old.body.yields.end(), flight.old);
      bool crosses = yield != old.body.yields.end() &&
                     pending[static_cast<std::size_t>(yield - old.body.yields.begin())];
      drained = drained || !crosses;
    }
    if (drained) settle();
    for (ValueId id : old.body.yields) now.body.yields.push_back(b_.map(id));
    flights_.clear();
  }

  void leave(const Inst& inst, const Loop& old, Loop now, const std::vector<bool>& pending) {
    std::vector<PassSlot> last = std::exchange(last_, {});
    Inst result{{}, {}, inst.loc};
    for (std::size_t i = 0; i < inst.results.size(); ++i) {
      Type type = p_.type(inst.results[i]);
      type.pending = pending[i];
      result.results.push_back(b_.define(inst.results[i], std::move(type)));
      if (pending[i]) flights_.push_back({.old = inst.results[i], .channels = {}});
    }
    ValueId begin = now.begin, end = now.end, first = now.first_ticket;
    result.op = std::move(now);
    b_.add(std::move(result));
    if (!last.empty()) owe(last, begin, end, first, p_.axis(old.axis).extent);
  }

  /// The slots of the last iteration go back when what is in flight has been waited for.
  void owe(const std::vector<PassSlot>& last, ValueId begin, ValueId end, ValueId first, int extent) {
    ValueId zero = b_.constant(0);
    ValueId ran = b_.emit(Binary{BinaryFn::lt, begin, end}, kCondition);
    ValueId trips = b_.trips(begin, end, extent);
    ValueId one = b_.constant(1);
    ValueId ticket = b_.arithmetic(BinaryFn::sub, trips, one);
    ticket = b_.arithmetic(BinaryFn::add, first == ValueId::none ? zero : first, ticket);
    If branch{.condition = ran, .then = {}, .otherwise = {}};
    for (PassSlot pass : last) {
      pass.slot.ticket = ticket;
      branch.then.insts.push_back({{}, pass, {}});
    }
    owed_.push_back({{}, std::move(branch), {}});
  }

  RoleBuilder b_;
  const Program& p_;
  const Uses& uses_;
  StoreSlicer& stores_;
  const Role& role_;
  std::map<ValueId, Slot> views_;
  std::vector<Flight> flights_;
  std::vector<Inst> owed_;
  std::vector<PassSlot> last_;  // released one iteration late by the loop being lowered
  std::set<ValueId> carried_;   // accumulators that cross a back edge
  bool open_ = false;           // a group of dots is open
  bool waited_ = false;         // this iteration has waited for the one before
  int groups_ = 0;              // committed in this iteration
};

}  // namespace

Program lower_roles(const Program& in, const PassContext& context) {
  Program out = in;
  out.body = {};
  out.types.clear();
  const Uses uses(in);
  StoreSlicer stores(in, context);
  RoleBuilder shared(in, out);
  shared.enter(&out.body);
  for (const Inst& inst : in.body.insts) {
    const Roles* roles = std::get_if<Roles>(&inst.op);
    if (roles == nullptr) {
      shared.replace(inst.result(), shared.emit(shared.mapped(inst.op), in.type(inst.result()), inst.loc));
      continue;
    }
    stores.declare(shared);
    Roles lowered;
    for (const Role& role : roles->roles)
      lowered.roles.push_back(LowerRole(shared, uses, stores, role).run());
    out.body.insts.push_back({{}, std::move(lowered), inst.loc});
  }
  return remove_unused(out);
}

}  // namespace tessera
