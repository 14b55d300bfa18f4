#include "tile_core/passes/lower_roles.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/flights.h"
#include "tile_core/passes/role_builder.h"
#include "tile_core/passes/store_slices.h"

namespace tessera {
namespace {

/// How a loop carries a value.
enum class Carry : std::uint8_t {
  tile,     ///< finished before the back edge
  drained,  ///< a dot's result that crosses the back edge in flight, and is waited for where the body begins
  accumulator  ///< the same, where only the next dot takes it: it need not be waited for
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
    for (const Inst& inst : role_.body.insts) instruction(inst);
    flights_.settle();
    return lowered;
  }

 private:
  // ---- instructions ----

  void instruction(const Inst& inst) {
    if (const View* view = std::get_if<View>(&inst.op)) {
      views_[inst.result()] = std::get<View>(b_.mapped(*view)).slot;
    } else if (const Dot* dot = std::get_if<Dot>(&inst.op)) {
      issue(inst, *dot);
    } else if (const PassSlot* pass = std::get_if<PassSlot>(&inst.op)) {
      pass_slot(inst, *pass);
    } else if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
      this->loop(inst, *loop);
    } else if (const If* branch = std::get_if<If>(&inst.op)) {
      this->branch(inst, *branch);
    } else if (std::holds_alternative<Convert>(inst.op)) {
      throw UserError(
          diagnostic(fmt::format("a role of '{}' would have to move a tile between layouts", p_.name),
                     inst.loc, "", "a schedule with warps= does the dots by FMA, and can"));
    } else {
      flights_.settle_operands(inst);
      // The others wait for what is issued, and arithmetic on tiles goes on beside it.
      if (std::holds_alternative<PassTurn>(inst.op) || computes_tiles(inst)) flights_.close_group();
      if (std::holds_alternative<Store>(inst.op) && stores_.store(b_, inst, instance())) return;
      copy(inst);
    }
  }

  bool computes_tiles(const Inst& inst) const {
    return is_pointwise(inst.op) && !p_.type(inst.result()).axes.empty();
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
    if (flights_.has(dot.a)) flights_.settle();
    const ValueId accumulator = dot.accumulator;
    if (flights_.has(accumulator) && !accumulators_.contains(accumulator)) flights_.settle();
    Flight flight{.old = inst.result()};
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
    if (accumulator != ValueId::none) op.accumulator = b_.map(accumulator);
    flights_.add(std::move(flight), accumulator, inst.loc);
    Type type = p_.type(inst.result());
    type.pending = true;
    b_.add({{b_.define(inst.result(), std::move(type))}, op, inst.loc});
  }

  void pass_slot(const Inst& inst, const PassSlot& pass) {
    PassSlot now = std::get<PassSlot>(b_.mapped(pass));
    if (pass.step == SlotStep::release) {
      if (is_kept(pass)) return keep(now, inst.loc);
      if (std::optional<int> group = flights_.reader_of(now.slot.channel)) flights_.settle(*group);
    } else {
      if (flights_.owes()) flights_.settle();  // the slot may be the one that goes back then
      flights_.close_group();                  // the wait may take long: what is issued should run
    }
    b_.statement(now, inst.loc);
  }

  /// Dots go on under a branch that only computes; any other begins and ends with nothing in flight.
  void branch(const Inst& inst, const If& old) {
    const bool computes = only_computes(old);
    if (computes) {
      settle_used_in(old);
    } else {
      flights_.settle();
    }
    If now{.condition = b_.map(old.condition), .then = {}, .otherwise = {}};
    auto side = [&](const Block& in, Block& out) {
      Block* outer = b_.enter(&out);
      for (const Inst& i : in.insts) computes ? copy(i) : instruction(i);
      if (!computes) flights_.settle();
      for (ValueId id : in.yields) out.yields.push_back(b_.map(id));
      b_.enter(outer);
    };
    side(old.then, now.then);
    side(old.otherwise, now.otherwise);
    Inst result{{}, std::move(now), inst.loc};
    for (ValueId id : inst.results) result.results.push_back(b_.define(id, p_.type(id)));
    b_.add(std::move(result));
  }

  static bool only_computes(const If& branch) {
    auto pure = [](const Inst& inst) { return is_pure(inst.op); };
    return std::all_of(branch.then.insts.begin(), branch.then.insts.end(), pure) &&
           std::all_of(branch.otherwise.insts.begin(), branch.otherwise.insts.end(), pure);
  }

  void settle_used_in(const If& branch) {
    for (const Block* block : {&branch.then, &branch.otherwise}) {
      for (const Inst& inst : block->insts) flights_.settle_operands(inst);
      for (ValueId id : block->yields) {
        if (std::optional<int> group = flights_.group_of(id)) flights_.settle(*group);
      }
    }
  }

  // ---- loops ----

  /// Accumulators need not be waited for where nothing in the body waits for another dot, and where their
  /// operands of two iterations have places at a time: slots to spare, not registers.
  std::vector<Carry> carries_of(const Loop& loop) const {
    std::vector<Carry> carries;
    for (std::size_t i = 0; i < loop.parameters.size(); ++i) carries.push_back(carry_of(loop, i));
    bool free = true;
    for (const Inst& inst : loop.body.insts) {
      const Dot* dot = std::get_if<Dot>(&inst.op);
      if (dot == nullptr) continue;
      auto place = std::find(loop.body.yields.begin(), loop.body.yields.end(), inst.result());
      free = free && place != loop.body.yields.end() &&
             carries[static_cast<std::size_t>(place - loop.body.yields.begin())] == Carry::accumulator &&
             has_slots_to_spare(dot->a) && has_slots_to_spare(dot->b);
    }
    if (!free) std::replace(carries.begin(), carries.end(), Carry::accumulator, Carry::drained);
    return carries;
  }

  bool has_slots_to_spare(ValueId operand) const {
    const View* view = std::get_if<View>(&uses_.definer(operand).op);
    return view != nullptr && p_.type(view->slot.channel).slots > 1;
  }

  /// A dot's result that the body only yields may stay in flight.
  Carry carry_of(const Loop& loop, std::size_t i) const {
    ValueId result = loop.body.yields[i];
    const auto& users = uses_.users(result);
    const Inst& definer = uses_.definer(result);
    bool made_here = std::any_of(loop.body.insts.begin(), loop.body.insts.end(),
                                 [&](const Inst& inst) { return &inst == &definer; });
    if (!made_here || !std::holds_alternative<Dot>(definer.op) || users.size() != 1) return Carry::tile;
    const auto& next = uses_.users(loop.parameters[i]);
    const Dot* dot = next.size() == 1 ? std::get_if<Dot>(&next.front()->op) : nullptr;
    bool only_dots = dot != nullptr && dot->accumulator == loop.parameters[i];
    return only_dots ? Carry::accumulator : Carry::drained;
  }

  /// The releases of a body that its crossing dots put off: of what these read, and no other dot does.
  std::vector<const Inst*> kept_of(const Loop& loop, const std::vector<Carry>& carries) const {
    std::vector<const Inst*> kept;
    std::set<ValueId> channels;
    for (std::size_t i = 0; i < carries.size(); ++i) {
      if (carries[i] == Carry::tile) continue;
      const Dot& dot = std::get<Dot>(uses_.definer(loop.body.yields[i]).op);
      for (ValueId operand : {dot.a, dot.b}) {
        const View* view = std::get_if<View>(&uses_.definer(operand).op);
        if (view != nullptr) channels.insert(barriers_of(b_.out(), b_.map(view->slot.channel)));
      }
    }
    for (const Inst& inst : loop.body.insts) {
      const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
      if (pass != nullptr && pass->step == SlotStep::release && channels.contains(b_.map(pass->slot.channel)))
        kept.push_back(&inst);
    }
    return kept;
  }

  bool is_kept(const PassSlot& pass) const {
    return std::any_of(body_.kept.begin(), body_.kept.end(),
                       [&](const Inst* inst) { return &std::get<PassSlot>(inst->op) == &pass; });
  }

  /// The slot of the iteration before goes back, now that its dots have finished: where the body begins, or
  /// when only this iteration's are left.
  void keep(const PassSlot& now, Loc loc) {
    if (body_.drains) return;
    flights_.close_group();
    if (!std::exchange(body_.waited, true))
      b_.add({{}, WaitDots{.pending = flights_.groups(), .values = {}}, loc});
    release_before(now, loc);
  }

  void release_before(const PassSlot& now, Loc loc) {
    ValueId later = b_.less(body_.begin, body_.start);
    ValueId one = b_.constant(1);
    PassSlot before = now;
    before.slot.ticket = b_.arithmetic(BinaryFn::sub, now.slot.ticket, one);
    If branch{.condition = later, .then = {}, .otherwise = {}};
    branch.then.insts.push_back({{}, before, loc});
    b_.statement(std::move(branch), loc);
  }

  void loop(const Inst& inst, const Loop& old) {
    flights_.settle();
    flights_.restart();
    Loop now{
        .axis = old.axis, .begin = b_.map(old.begin), .end = b_.map(old.end), .pipelined = old.pipelined};
    auto optional = [&](ValueId id) { return id == ValueId::none ? id : b_.map(id); };
    now.step = optional(old.step), now.first_ticket = optional(old.first_ticket);
    if (old.start != ValueId::none) now.start = b_.define(old.start, kIndex);
    if (old.ticket != ValueId::none) now.ticket = b_.define(old.ticket, kIndex);
    const std::vector<Carry> carries = carries_of(old);
    for (std::size_t i = 0; i < old.parameters.size(); ++i) {
      Type type = p_.type(old.parameters[i]);
      type.pending = carries[i] != Carry::tile;
      now.carried.push_back(b_.map(old.carried[i]));
      now.parameters.push_back(b_.define(old.parameters[i], type));
      if (type.pending) flights_.carry(old.parameters[i]);
      if (carries[i] == Carry::accumulator) accumulators_.insert(old.parameters[i]);
    }
    const bool drains = std::find(carries.begin(), carries.end(), Carry::drained) != carries.end();
    Body around = std::exchange(
        body_, {.begin = now.begin, .start = now.start, .kept = kept_of(old, carries), .drains = drains});
    body(old, now, carries);
    const Body done = std::exchange(body_, std::move(around));
    leave(inst, old, std::move(now), carries, done.kept);
  }

  void body(const Loop& old, Loop& now, const std::vector<Carry>& carries) {
    Block* outer = b_.enter(&now.body);
    if (body_.drains) {
      flights_.settle(Flights::kBefore);
      for (const Inst* inst : body_.kept) {
        for_each_operand(inst->op, [this](ValueId id) { ensure(id); });
        release_before(std::get<PassSlot>(b_.mapped(inst->op)), inst->loc);
      }
    }
    for (const Inst& inst : old.body.insts) instruction(inst);
    flights_.close_group();
    for (std::size_t i = 0; i < carries.size(); ++i) {
      if (carries[i] == Carry::tile && flights_.has(old.body.yields[i])) flights_.settle();
    }
    for (ValueId id : old.body.yields) now.body.yields.push_back(b_.map(id));
    flights_.restart();
    b_.enter(outer);
  }

  /// Makes a scalar of the body before its place.
  void ensure(ValueId id) {
    if (b_.knows(id)) return;
    const Inst& definer = uses_.definer(id);
    for_each_operand(definer.op, [this](ValueId operand) { ensure(operand); });
    copy(definer);
  }

  void leave(const Inst& inst, const Loop& old, Loop now, const std::vector<Carry>& carries,
             const std::vector<const Inst*>& kept) {
    Inst result{{}, {}, inst.loc};
    for (std::size_t i = 0; i < inst.results.size(); ++i) {
      Type type = p_.type(inst.results[i]);
      type.pending = carries[i] != Carry::tile;
      result.results.push_back(b_.define(inst.results[i], type));
      if (type.pending) flights_.carry(inst.results[i]);
    }
    ValueId begin = now.begin, end = now.end, first = now.first_ticket;
    result.op = std::move(now);
    b_.add(std::move(result));
    if (!kept.empty()) owe(kept, old, begin, end, first);
  }

  /// The slots of the last iteration go back when what is in flight has been waited for.
  void owe(const std::vector<const Inst*>& kept, const Loop& old, ValueId begin, ValueId end, ValueId first) {
    ValueId ran = b_.less(begin, end);
    ValueId trips = b_.trips(begin, end, p_.axis(old.axis).extent);
    ValueId one = b_.constant(1);
    ValueId last = b_.arithmetic(BinaryFn::sub, trips, one);
    if (first != ValueId::none) last = b_.arithmetic(BinaryFn::add, first, last);
    If branch{.condition = ran, .then = {}, .otherwise = {}};
    for (const Inst* inst : kept) {
      PassSlot pass = std::get<PassSlot>(inst->op);
      pass.slot.channel = b_.map(pass.slot.channel);
      pass.slot.ticket = at_ticket(pass.slot.ticket, old, last);
      branch.then.insts.push_back({{}, pass, inst->loc});
    }
    flights_.owe({{}, std::move(branch), {}});
  }

  /// A scalar of a loop's body in the iteration of a ticket.
  ValueId at_ticket(ValueId id, const Loop& loop, ValueId ticket) {
    if (id == loop.ticket) return ticket;
    const Inst* around = uses_.loop_of(id);
    if (around == nullptr || &std::get<Loop>(around->op) != &loop) return b_.map(id);
    const Inst& definer = uses_.definer(id);
    Op op = definer.op;
    for_each_operand(op, [&](ValueId& operand) { operand = at_ticket(operand, loop, ticket); });
    return b_.emit(std::move(op), p_.type(id), definer.loc);
  }

  RoleBuilder b_;
  const Program& p_;
  const Uses& uses_;
  StoreSlicer& stores_;
  const Role& role_;
  std::map<ValueId, Slot> views_;
  Flights flights_{b_};
  std::set<ValueId> accumulators_;  // parameters that only dots take

  /// The innermost loop's body that is being lowered.
  struct Body {
    ValueId begin = ValueId::none, start = ValueId::none;
    std::vector<const Inst*> kept;  ///< releases that are put off by one iteration
    bool drains = false;            ///< it begins with a wait
    bool waited = false;            ///< this iteration has waited for the one before
  };
  Body body_;
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
