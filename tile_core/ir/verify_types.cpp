#include "tile_core/base/match.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/type_rules.h"

namespace tessera {
namespace {

/// A tile that is not pending may stand where a pending one may.
bool enters(Type type, const Type& as) {
  type.pending = type.pending || as.pending;
  return type == as;
}

}  // namespace

void verify_types(const Program& program, const Inst& inst) {
  TypeRules(program, inst).run();
}

void TypeRules::run() const {
  results_are_as_many_as_the_operation_defines();
  pending_values_are_waited_for();
  match(
      inst_.op, [&](const Constant& o) { constant(o); },
      [&](const Scalar& o) { result_is(p_.scalars.at(index_of(o.scalar)).dtype, {}); },
      [&](const Size&) { result_is(i64, {}); }, [&](const Index& o) { index(o); },
      [&](const Start&) { result_is(i64, {}); }, [&](const End&) { result_is(i64, {}); },
      [&](const BlockIndex&) { result_is(i64, {}); }, [&](const BlockCount&) { result_is(i64, {}); },
      [&](const ClusterIndex&) { result_is(i64, {}); }, [&](const ClusterCount&) { result_is(i64, {}); },
      [&](const ClusterRank&) { result_is(i64, {}); }, [](const Undefined&) {},
      [&](const Broadcast& o) {
        result_is(type(o.a).dtype, joined({result().axes, type(o.a).axes}));
      },
      [&](const Slice& o) { slice(o); }, [&](const Unary& o) { unary(o); },
      [&](const Binary& o) { binary(o); }, [&](const Fma& o) { fma(o); }, [&](const Select& o) { select(o); },
      [&](const Cast& o) { result_is(result().dtype, type(o.a).axes); },
      [&](const Convert& o) { result_is(type(o.a).dtype, type(o.a).axes); },
      [&](const Reduce& o) { result_is(type(o.a).dtype, contracted(o.a, o.axis)); },
      [&](const ReduceWarp& o) { reduce_warp(o); }, [&](const Dot& o) { dot(o); },
      [&](const Load& o) { result_is(p_.tensor(o.tensor).dtype, subscripts(o.tensor, o.subscripts)); },
      [&](const Store& o) { store(o); }, [&](const Loop& o) { loop(o); }, [&](const If& o) { branch(o); },
      [&](const Roles& o) { roles(o); }, [](const Channel&) {},
      [&](const View& o) { slot_holds(o.slot, result().dtype, result().axes); },
      [&](const CopyIn& o) {
        slot_holds(o.to, p_.tensor(o.load.tensor).dtype, subscripts(o.load.tensor, o.load.subscripts));
      },
      [](const CommitCopies&) {}, [](const WaitCopies&) {}, [](const Barrier&) {},
      [&](const PassSlot& o) { tile_of(o.slot); },
      [&](const WriteShared& o) { slot_holds(o.to, type(o.value).dtype, type(o.value).axes); },
      [&](const ReadShared& o) { slot_holds(o.from, result().dtype, result().axes); },
      [](const FenceShared&) {},
      [&](const CopyOut& o) {
        Type tile = tile_of(o.from);
        writes(o.tensor, o.subscripts, tile, to_text(p_, tile));
        if (o.accumulate) adds_to(o.tensor);
      },
      [](const CommitStores&) {}, [](const WaitStores&) {}, [&](const DotShared& o) { dot_shared(o); },
      [&](const IssueDot& o) { issue_dot(o); }, [](const FenceDots&) {}, [](const CommitDots&) {},
      [&](const WaitDots& o) { wait_dots(o); }, [](const TakeTurn&) {}, [](const PassTurn&) {},
      [&](const DrawTile& o) {
        scalar_index(o.tiles, "the number of tiles");
        result_is(i64, {});
      });
}

void TypeRules::results_are_as_many_as_the_operation_defines() const {
  const Op& op = inst_.op;
  std::size_t wanted = 1;
  if (holds_any<Store, Roles, CopyIn, CommitCopies, WaitCopies, Barrier, PassSlot, WriteShared, FenceShared,
                CopyOut, CommitStores, WaitStores, FenceDots, CommitDots, TakeTurn, PassTurn>(op)) {
    wanted = 0;
  }
  if (const auto* o = std::get_if<Loop>(&op)) wanted = o->carried.size();
  if (const auto* o = std::get_if<If>(&op)) wanted = o->then.yields.size();
  if (const auto* o = std::get_if<WaitDots>(&op)) wanted = o->values.size();
  if (inst_.results.size() != wanted)
    fail(fmt::format("expected {} results, but got {}", wanted, inst_.results.size()));
}

/// Dots add to pending values, waits end them, and blocks pass them on; nothing else sees one.
void TypeRules::pending_values_are_waited_for() const {
  const IssueDot* dot = std::get_if<IssueDot>(&inst_.op);
  for_each_operand(inst_.op, [&](ValueId id) {
    bool accumulator = dot != nullptr && dot->accumulator == id && dot->a.value != id;
    if (!type(id).pending || accumulator || holds_any<WaitDots, Loop>(inst_.op)) return;
    fail(fmt::format("the dot of {} is in flight: a wait_dots has to stand before", text(id)));
  });
  for (ValueId id : inst_.results) {
    if (type(id).pending && !holds_any<IssueDot, Undefined, Loop, If>(inst_.op))
      fail("only the result of an issued dot is pending, but got " + text(id));
  }
}

void TypeRules::result_is(DType dtype, const Axes& axes) const {
  if (result().dtype == dtype && same_axes(result().axes, axes)) return;
  fail(fmt::format("expected the type {}, but got {}", text(dtype, axes), text(inst_.result())));
}

void TypeRules::same_dtype(ValueId a, ValueId b) const {
  if (type(a).dtype != type(b).dtype)
    fail(fmt::format("operands of different dtypes: {} and {}", text(a), text(b)));
}

void TypeRules::scalar_index(ValueId id, const char* role) const {
  if (is_integer(type(id).dtype) && type(id).axes.empty()) return;
  fail(fmt::format("{} has to be an integer scalar, but got {}", role, text(id)));
}

void TypeRules::scalar_condition(ValueId id) const {
  if (type(id).dtype == boolean && type(id).axes.empty()) return;
  fail("the condition has to be a boolean scalar, but got " + text(id));
}

void TypeRules::loop(const Loop& o) const {
  scalar_index(o.begin, "the begin of a loop");
  scalar_index(o.end, "the end of a loop");
  loop_axis(o);
  for (ValueId id : {o.start, o.ticket}) {
    if (id != ValueId::none && type(id) != Type{.dtype = i64})
      fail("a loop's start and ticket are i64, but got " + text(id));
  }
  if (o.first_ticket != ValueId::none) {
    scalar_index(o.first_ticket, "the first ticket of a loop");
    if (o.ticket == ValueId::none) fail("a loop without a ticket has a first one");
  }
  carried(o);
}

void TypeRules::loop_axis(const Loop& o) const {
  if (o.axis == AxisId::none) {
    if (o.draws_its_starts()) return drawn_starts(o);
    scalar_index(o.step, "the step of a loop");
    return;
  }
  if (o.step != ValueId::none) fail("a loop over an axis steps by its extent");
  if (p_.axis(o.axis).kind != AxisKind::loop)
    fail(fmt::format("axis '{}' is not of kind loop", p_.axis(o.axis).name));
}

void TypeRules::drawn_starts(const Loop& o) const {
  if (p_.stage < Stage::roled) fail("a loop over no axis needs a step");
  if (o.carried.empty() || o.carried.front() != o.begin || type(o.begin) != Type{.dtype = i64})
    fail("a loop without a step carries its begin first, an i64");
  if (o.start != ValueId::none) fail("the start of a loop without a step is its first parameter");
}

void TypeRules::carried(const Loop& o) const {
  if (o.parameters.size() != o.carried.size() || o.body.yields.size() != o.carried.size()) {
    fail(fmt::format("a loop carries {} values, but has {} parameters and yields {}", o.carried.size(),
                     o.parameters.size(), o.body.yields.size()));
  }
  for (std::size_t i = 0; i < o.carried.size(); ++i) {
    const Type& parameter = type(o.parameters[i]);
    auto changes = [&](ValueId id) {
      fail(fmt::format("a carried value changes its type: {} and {}", text(o.parameters[i]), text(id)));
    };
    for (ValueId id : {o.carried[i], o.body.yields[i]}) {
      if (!enters(type(id), parameter)) changes(id);
    }
    if (type(inst_.results[i]) != parameter) changes(inst_.results[i]);
  }
}

void TypeRules::branch(const If& o) const {
  scalar_condition(o.condition);
  if (o.then.yields.size() != o.otherwise.yields.size()) {
    fail(fmt::format("one branch yields {} values, the other {}", o.then.yields.size(),
                     o.otherwise.yields.size()));
  }
  for (std::size_t i = 0; i < inst_.results.size(); ++i) {
    for (ValueId id : {o.then.yields[i], o.otherwise.yields[i]}) {
      if (type(id) == type(inst_.results[i])) continue;
      fail(fmt::format("a branch yields {}, but the result is {}", text(id), text(inst_.results[i])));
    }
  }
}

void TypeRules::roles(const Roles& o) const {
  for (const Role& role : o.roles) {
    if (role.instance != ValueId::none && type(role.instance) != Type{.dtype = i64})
      fail("the number of an instance is i64, but got " + text(role.instance));
    if (!role.body.yields.empty()) fail("a role yields nothing");
  }
}

Axes joined(const std::vector<Axes>& lists) {
  Axes axes;
  for (const Axes& list : lists) {
    for (AxisId axis : list) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace tessera
