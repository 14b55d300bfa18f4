#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/lag_copies.h"
#include "tile_core/passes/loop_arithmetic.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

/// An operation, or a branch, that only computes elements.
bool computes(const Inst& inst) {
  if (!std::holds_alternative<If>(inst.op)) return is_pointwise(inst.op);
  bool all = true;
  for_each_block(inst.op, [&](const Block& block) {
    for (const Inst& i : block.insts) all = all && (is_pointwise(i.op) || is_predicate(i.op));
  });
  return all;
}

/// Calls `visit(ValueId)` on what an instruction takes, in its blocks too.
template <typename Visit>
void for_each_use(const Inst& inst, const Visit& visit) {
  for_each_operand(inst.op, visit);
  for_each_block(inst.op, [&](const Block& block) {
    for (const Inst& i : block.insts) for_each_use(i, visit);
    for (ValueId id : block.yields) visit(id);
  });
}

/// How a loop's body comes apart around a dot whose register operand is made from another dot of the same
/// iteration. A rotated body does, of the iteration before, `operand`: what only makes the dependent dot's
/// operand and its accumulator, as far as it is pointwise, none of which should hold up a turn; `first` up to
/// the other dot; of the iteration before, `trails`: the dependent dot, what else makes its accumulator, and
/// its slot's passing; and the `rest`.
struct Parts {
  std::size_t carried = 0;  ///< the accumulator's place among what the loop carries
  std::vector<const Inst*> operand, first, trails, rest;
  std::vector<ValueId> crossing;  ///< made by what leads, used by what trails
};

class FindParts {
 public:
  FindParts(const Uses& uses, const Loop& loop) : uses_(uses), loop_(loop) {}

  std::optional<Parts> run() {
    for (std::size_t i = 0; i < loop_.body.yields.size(); ++i) {
      if (std::optional<Parts> parts = around(i)) return parts;
    }
    return std::nullopt;
  }

 private:
  const Inst* made_here(ValueId id) const {
    auto found = std::find_if(loop_.body.insts.begin(), loop_.body.insts.end(), [&](const Inst& inst) {
      return std::find(inst.results.begin(), inst.results.end(), id) != inst.results.end();
    });
    return found == loop_.body.insts.end() ? nullptr : &*found;
  }

  std::optional<Parts> around(std::size_t i) {
    const Inst* last = made_here(loop_.body.yields[i]);
    const Dot* dot = last == nullptr ? nullptr : std::get_if<Dot>(&last->op);
    if (dot == nullptr || uses_.users(last->result()).size() != 1) return std::nullopt;
    const Inst* source = dot_behind(dot->a);
    if (source == nullptr) return std::nullopt;
    trailing_ = {last};
    if (!follow(loop_.parameters[i], *last) || !take_slot(dot->b)) return std::nullopt;
    if (trailing_.contains(source)) return std::nullopt;
    absorb(dot->a);
    return reads_other_parameters(loop_.parameters[i]) ? std::nullopt : std::optional(split(i, *source));
  }

  /// Whether what trails reads another value that comes from the iteration before its own.
  bool reads_other_parameters(ValueId accumulator) const {
    bool reads = false;
    auto look = [&](ValueId id) {
      const auto& all = loop_.parameters;
      reads = reads || (id != accumulator && std::find(all.begin(), all.end(), id) != all.end());
    };
    for (const auto* part : {&trailing_, &operand_}) {
      for (const Inst* inst : *part) for_each_use(*inst, look);
    }
    return reads;
  }

  /// The last dot of this iteration that a value is made from.
  const Inst* dot_behind(ValueId id) {
    const Inst* inst = made_here(id);
    if (inst == nullptr) return nullptr;
    if (std::holds_alternative<Dot>(inst->op)) return inst;
    const Inst* latest = nullptr;
    auto look = [&](ValueId operand) {
      const Inst* found = dot_behind(operand);
      if (found != nullptr && (latest == nullptr || found > latest)) latest = found;
    };
    for_each_use(*inst, look);
    return latest;
  }

  /// Takes everything from a carried accumulator to the dot; false where something else depends on it.
  bool follow(ValueId value, const Inst& dot) {
    for (const Inst* user : uses_.users(value)) {
      if (user == &dot) continue;
      if (user->results.size() != 1 || !is_pure(user->op) || made_here(user->result()) == nullptr)
        return false;
      trailing_.insert(user);
      if (!follow(user->result(), dot)) return false;
    }
    return true;
  }

  /// Takes the view of the dot's slot, and its passing; false where another instruction reads the slot.
  bool take_slot(ValueId operand) {
    const Inst* view = made_here(operand);
    const View* seen = view == nullptr ? nullptr : std::get_if<View>(&view->op);
    if (seen == nullptr || uses_.users(view->result()).size() != 1) return false;
    trailing_.insert(view);
    for (const Inst& inst : loop_.body.insts) {
      const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
      if (pass != nullptr && pass->slot.channel == seen->slot.channel) trailing_.insert(&inst);
      const View* other = std::get_if<View>(&inst.op);
      if (&inst != view && other != nullptr && other->slot.channel == seen->slot.channel) return false;
    }
    return true;
  }

  /// Takes what only makes the register operand: a dot in flight reads those registers until it is waited
  /// for.
  void absorb(ValueId value) {
    const Inst* inst = made_here(value);
    if (inst == nullptr || inst->results.size() != 1) return;
    if (!computes(*inst) && !is_predicate(inst->op)) return;
    const auto& users = uses_.users(value);
    bool only = std::all_of(users.begin(), users.end(), [&](const Inst* user) {
      return trailing_.contains(user) || operand_.contains(user);
    });
    if (!only) return;
    operand_.insert(inst);
    for_each_block(inst->op, [this](const Block& block) {
      for_each_inst(block, [this](const Inst& inner) { operand_.insert(&inner); });
    });
    for_each_use(*inst, [this](ValueId id) { absorb(id); });
  }

  /// Whether an instruction takes what one of some others makes.
  bool uses_any(const Inst& inst, const std::vector<const Inst*>& others) const {
    bool found = false;
    for_each_use(inst, [&](ValueId id) {
      found = found || std::find(others.begin(), others.end(), made_here(id)) != others.end();
    });
    return found;
  }

  Parts split(std::size_t i, const Inst& source) const {
    Parts parts{.carried = i};
    for (const Inst& inst : loop_.body.insts) {
      const bool trails = trailing_.contains(&inst);
      const bool moves = operand_.contains(&inst) || (trails && computes(inst));
      auto& part = moves && !uses_any(inst, parts.trails) ? parts.operand
                   : moves || trails                      ? parts.trails
                   : &inst <= &source                     ? parts.first
                                                          : parts.rest;
      part.push_back(&inst);
    }
    auto cross = [&](ValueId id) {
      const Inst* definer = made_here(id);
      bool leads = definer != nullptr && !trailing_.contains(definer) && !operand_.contains(definer);
      bool known = std::find(parts.crossing.begin(), parts.crossing.end(), id) != parts.crossing.end();
      if (leads && !known) parts.crossing.push_back(id);
    };
    for (const auto* part : {&parts.operand, &parts.trails}) {
      for (const Inst* inst : *part) for_each_use(*inst, cross);
    }
    return parts;
  }

  const Uses& uses_;
  const Loop& loop_;
  std::set<const Inst*> trailing_;
  std::set<const Inst*> operand_;
};

/// Writes the loop with its trailing part one iteration late: the leading part of the first iteration stands
/// before it, the trailing part of the last one after it.
class Rotate {
 public:
  Rotate(Rewriter& r, const Inst& inst, const Parts& parts, bool turns)
      : r_(r),
        p_(r.in()),
        inst_(inst),
        old_(std::get<Loop>(inst.op)),
        parts_(parts),
        turns_(turns),
        at_(r, inst) {}

  void run() {
    begin_.start = r_.map(old_.begin), end_ = r_.map(old_.end);
    begin_.ticket = old_.first_ticket == ValueId::none ? at_.constant(0) : r_.map(old_.first_ticket);
    for (ValueId id : old_.carried) entry_.push_back(r_.map(id));
    If branch{.condition = at_.less(begin_.start, end_), .then = {}, .otherwise = {}};
    branch.then = r_.emit_block([&] { return rotated(); });
    branch.otherwise = r_.emit_block([&] { return entry_; });
    std::vector<Type> types;
    for (ValueId id : inst_.results) types.push_back(p_.type(id));
    std::vector<ValueId> results = r_.emit_all(std::move(branch), types, inst_.loc);
    for (std::size_t i = 0; i < results.size(); ++i) r_.replace(inst_.results[i], results[i]);
  }

 private:
  using Place = LoopArithmetic::Place;

  void copy(const std::vector<const Inst*>& insts) {
    for (const Inst* inst : insts) r_.copy(*inst);
  }

  void move_to(Place place) {
    r_.replace(old_.start, place.start);
    if (old_.ticket != ValueId::none) r_.replace(old_.ticket, place.ticket);
  }

  void enter(Place place, const std::vector<ValueId>& values) {
    move_to(place);
    for (std::size_t i = 0; i < values.size(); ++i) r_.replace(old_.parameters[i], values[i]);
  }

  /// What the leading part hands on: the carried values, the accumulator's place left as it is, then what
  /// crosses to the trailing part.
  std::vector<ValueId> handed_on(ValueId accumulator) const {
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < old_.body.yields.size(); ++i)
      values.push_back(i == parts_.carried ? accumulator : r_.map(old_.body.yields[i]));
    for (ValueId id : parts_.crossing) values.push_back(r_.map(id));
    return values;
  }

  std::vector<ValueId> rotated() {
    enter(begin_, entry_);
    copy(parts_.first), copy(parts_.rest);
    std::vector<ValueId> carried = handed_on(entry_[parts_.carried]);
    std::vector<ValueId> results = loop(carried);
    go_back(results, at_.last(begin_, end_));
    copy(parts_.operand), copy(parts_.trails);
    results.resize(old_.carried.size());
    results[parts_.carried] = r_.map(old_.body.yields[parts_.carried]);
    return results;
  }

  /// From here on, the iteration before: values that it handed on, and its place.
  void go_back(const std::vector<ValueId>& values, Place place) {
    move_to(place);
    r_.replace(old_.parameters[parts_.carried], values[parts_.carried]);
    for (std::size_t i = 0; i < parts_.crossing.size(); ++i)
      r_.replace(parts_.crossing[i], values[old_.carried.size() + i]);
  }

  std::vector<ValueId> loop(const std::vector<ValueId>& carried) {
    const Place second = at_.after(begin_);
    Loop now{.axis = old_.axis, .begin = second.start, .end = end_, .pipelined = old_.pipelined};
    now.first_ticket = second.ticket;
    now.start = r_.define({.dtype = i64});
    now.ticket = r_.define({.dtype = i64});
    now.carried = carried;
    std::vector<Type> types;
    for (ValueId id : carried) {
      types.push_back(r_.out().type(id));
      now.parameters.push_back(r_.define(types.back()));
    }
    now.body = r_.emit_block([&] { return body(now); });
    return r_.emit_all(std::move(now), types, inst_.loc);
  }

  std::vector<ValueId> body(const Loop& now) {
    const std::vector<ValueId>& values = now.parameters;
    const Place here{now.start, now.ticket}, before = at_.before(here);
    go_back(values, before);
    copy(parts_.operand);
    if (turns_) r_.emit_statement(TakeTurn{}, inst_.loc);
    enter(here, {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(old_.carried.size())});
    copy(parts_.first);
    std::vector<ValueId> made;  // what crosses from this iteration to the next may be made already
    for (ValueId id : parts_.crossing) made.push_back(r_.map(id));
    go_back(values, before);
    copy(parts_.trails);
    if (turns_) r_.emit_statement(PassTurn{}, inst_.loc);
    ValueId accumulator = r_.map(old_.body.yields[parts_.carried]);
    move_to(here);
    for (std::size_t i = 0; i < made.size(); ++i) r_.replace(parts_.crossing[i], made[i]);
    copy(parts_.rest);
    return handed_on(accumulator);
  }

  Rewriter& r_;
  const Program& p_;
  const Inst& inst_;
  const Loop& old_;
  const Parts& parts_;
  bool turns_;  // groups issue their dots one after the other
  LoopArithmetic at_;
  Place begin_;
  ValueId end_ = ValueId::none;
  std::vector<ValueId> entry_;
};

/// The channels that trailing dots read.
std::set<ValueId> trailing_channels(const std::map<const Loop*, Parts>& loops) {
  std::set<ValueId> channels;
  for (const auto& [loop, parts] : loops) {
    for (const Inst* inst : parts.trails) {
      if (const PassSlot* pass = std::get_if<PassSlot>(&inst->op)) channels.insert(pass->slot.channel);
    }
  }
  return channels;
}

/// Whether a loop only skips what is left for trailing dots.
bool skips_for_trailing(const Loop& loop, const std::set<ValueId>& trailing) {
  return std::any_of(loop.body.insts.begin(), loop.body.insts.end(), [&](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    return pass != nullptr && pass->step == SlotStep::skip && trailing.contains(pass->slot.channel);
  });
}

/// Turns are for loops whose dots trail, between groups: without, they would be `together` by another name.
void check_turns(const Program& program, const PassContext& context, std::size_t trailing) {
  const std::vector<Role>& roles = roles_of(program);
  const bool groups =
      std::any_of(roles.begin(), roles.end(), [](const Role& role) { return role.instances > 1; });
  if (groups && trailing > 0) return;
  const char* missing =
      groups ? "no dot trails another of its loop" : "one group has none to take turns with";
  throw illegal_schedule(program, context.schedule, context.target,
                         {{"turns are taken around lagging dots",
                           fmt::format("share is turns, and {}\n   help: share=together", missing)}});
}

}  // namespace

Program lag_dots(const Program& in, const PassContext& context) {
  if (!has_roles(in) || context.schedule.lag == Lag::none) return in;
  const Uses uses(in);
  const bool turns = context.schedule.share == Share::turns;
  std::map<const Loop*, Parts> found;
  for_each_inst(in.body, [&](const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr || !loop->pipelined) return;
    if (std::optional<Parts> parts = FindParts(uses, *loop).run()) found.emplace(loop, std::move(*parts));
  });
  if (turns) check_turns(in, context, found.size());
  const std::set<ValueId> trailing = trailing_channels(found);
  return rewrite(in, [&](Rewriter& r, const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return false;
    if (auto parts = found.find(loop); parts != found.end()) {
      Rotate(r, inst, parts->second, turns).run();
      return true;
    }
    if (turns && skips_for_trailing(*loop, trailing)) {  // the others still take theirs
      r.copy_loop(inst, {.enter = [&](Loop&) {
                    r.emit_statement(TakeTurn{}, inst.loc);
                    r.emit_statement(PassTurn{}, inst.loc);
                  }});
      return true;
    }
    if (!copies_for_trailing(in, *loop, trailing)) return false;
    rotate_copies(r, inst, trailing);
    return true;
  });
}

}  // namespace tessera
