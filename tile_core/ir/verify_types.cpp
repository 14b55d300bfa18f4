#include "tile_core/base/match.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

using Axes = std::vector<AxisId>;

Axes without(Axes axes, AxisId axis) {
  std::erase(axes, axis);
  return axes;
}

/// The typing rules: what an instruction's result has to be, given its operands.
class TypeRules {
 public:
  TypeRules(const Program& program, const Inst& inst) : p_(program), inst_(inst) {}

  void run() {
    results_are_as_many_as_the_operation_defines();
    match(
        inst_.op, [&](const Constant& o) { constant(o); },
        [&](const Scalar& o) { result_is(p_.scalars.at(index_of(o.scalar)).dtype, {}); },
        [&](const Size&) { result_is(i64, {}); }, [&](const Index& o) { index(o); },
        [&](const Start&) { result_is(i64, {}); }, [&](const BlockIndex&) { result_is(i64, {}); },
        [&](const Broadcast& o) {
          result_is(type(o.a).dtype, joined({result().axes, type(o.a).axes}));
        },
        [&](const Unary& o) { unary(o); }, [&](const Binary& o) { binary(o); },
        [&](const Select& o) { select(o); },
        [&](const Cast& o) { result_is(result().dtype, type(o.a).axes); },
        [&](const Convert& o) { result_is(type(o.a).dtype, type(o.a).axes); },
        [&](const Reduce& o) { result_is(type(o.a).dtype, contracted(o.a, o.axis)); },
        [&](const ReduceWarp& o) { reduce_warp(o); }, [&](const Dot& o) { dot(o); },
        [&](const DotShared& o) {
          dot_of(type(o.a.channel), type(o.b.channel), o.axis);
          accumulates(o.accumulator);
        },
        [&](const Load& o) { result_is(p_.tensor(o.tensor).dtype, subscripts(o.tensor, o.subscripts)); },
        [&](const Store& o) { store(o); }, [&](const Loop& o) { loop(o); }, [&](const Channel&) {},
        [&](const CopyIn& o) {
          Axes axes = subscripts(o.load.tensor, o.load.subscripts);
          slot_holds(o.to, p_.tensor(o.load.tensor).dtype, axes);
        },
        [&](const CommitCopies&) {}, [&](const WaitCopies&) {}, [&](const Barrier&) {},
        [&](const WriteShared& o) { slot_holds(o.to, type(o.value).dtype, type(o.value).axes); },
        [&](const ReadShared& o) { slot_holds(o.from, result().dtype, result().axes); });
  }

 private:
  const Type& type(ValueId id) const { return p_.type(id); }
  const Type& result() const { return p_.type(inst_.result()); }
  std::string text(ValueId id) const { return fmt::format("{}: {}", name_of(p_, id), to_text(p_, type(id))); }
  std::string text(DType dtype, Axes axes) const {
    Type wanted;
    wanted.dtype = dtype;
    wanted.axes = std::move(axes);
    return to_text(p_, wanted);
  }
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }

  void results_are_as_many_as_the_operation_defines() const {
    const Op& op = inst_.op;
    bool statement = std::holds_alternative<Store>(op) || std::holds_alternative<CopyIn>(op) ||
                     std::holds_alternative<CommitCopies>(op) || std::holds_alternative<WaitCopies>(op) ||
                     std::holds_alternative<Barrier>(op) || std::holds_alternative<WriteShared>(op);
    std::size_t wanted = statement ? 0 : 1;
    if (const Loop* loop = std::get_if<Loop>(&op)) wanted = loop->carried.size();
    if (inst_.results.size() != wanted)
      fail(fmt::format("expected {} results, but got {}", wanted, inst_.results.size()));
  }

  void result_is(DType dtype, const Axes& axes) const {
    if (result().dtype == dtype && same_axes(result().axes, axes)) return;
    fail(fmt::format("expected the type {}, but got {}", text(dtype, axes), text(inst_.result())));
  }

  Axes joined(const std::vector<Axes>& lists) const {
    Axes axes;
    for (const Axes& list : lists) {
      for (AxisId axis : list) {
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
      }
    }
    return axes;
  }

  void same_dtype(ValueId a, ValueId b) const {
    if (type(a).dtype != type(b).dtype)
      fail(fmt::format("operands of different dtypes: {} and {}", text(a), text(b)));
  }

  void scalar_index(ValueId id, const char* role) const {
    if (is_integer(type(id).dtype) && type(id).axes.empty()) return;
    fail(fmt::format("{} has to be an integer scalar, but got {}", role, text(id)));
  }

  void constant(const Constant& o) const {
    if (is_float(result().dtype) || holds(result().dtype, o.value)) return;
    fail(fmt::format("{} cannot hold {}", name_of(result().dtype), o.value));
  }

  void index(const Index& o) const {
    if (o.start != ValueId::none) scalar_index(o.start, "the start of an axis");
    result_is(i64, {o.axis});
  }

  void unary(const Unary& o) const {
    DType dtype = type(o.a).dtype;
    bool any_number = o.fn == UnaryFn::neg || o.fn == UnaryFn::abs;
    bool fits = o.fn == UnaryFn::logical_not ? dtype == boolean
                : any_number                 ? dtype != boolean
                                             : is_float(dtype);
    if (!fits) fail(fmt::format("{} does not take {}", name_of(o.fn), text(o.a)));
    result_is(dtype, type(o.a).axes);
  }

  void binary(const Binary& o) const {
    same_dtype(o.a, o.b);
    DType dtype = type(o.a).dtype;
    bool logical = o.fn == BinaryFn::logical_and || o.fn == BinaryFn::logical_or;
    bool fits = logical ? dtype == boolean : compares(o.fn) || dtype != boolean;
    if (o.fn == BinaryFn::mod) fits = is_integer(dtype);
    if (!fits) fail(fmt::format("{} does not take {}", name_of(o.fn), text(o.a)));
    result_is(compares(o.fn) ? boolean : dtype, joined({type(o.a).axes, type(o.b).axes}));
  }

  void select(const Select& o) const {
    same_dtype(o.a, o.b);
    if (type(o.condition).dtype != boolean)
      fail("the condition has to be boolean, but got " + text(o.condition));
    result_is(type(o.a).dtype, joined({type(o.condition).axes, type(o.a).axes, type(o.b).axes}));
  }

  Axes contracted(ValueId a, AxisId axis) const {
    if (!type(a).has(axis))
      fail(fmt::format("the operand has no axis '{}': {}", p_.axis(axis).name, text(a)));
    if (type(a).dtype == boolean) fail("a boolean cannot be reduced: " + text(a));
    return without(type(a).axes, axis);
  }

  void reduce_warp(const ReduceWarp& o) const {
    if (p_.axis(o.warps).kind != AxisKind::warps)
      fail(fmt::format("axis '{}' is not of kind warps", p_.axis(o.warps).name));
    Axes axes = contracted(o.a, o.axis);
    axes.push_back(o.warps);
    result_is(type(o.a).dtype, axes);
  }

  void dot(const Dot& o) const {
    dot_of(type(o.a), type(o.b), o.axis);
    if (o.accumulator != ValueId::none) accumulates(o.accumulator);
  }

  void dot_of(const Type& a, const Type& b, AxisId axis) const {
    for (const Type& operand : {a, b}) {
      if (!operand.has(axis) || !is_float(operand.dtype)) {
        fail(fmt::format("a dot over '{}' does not take {}", p_.axis(axis).name, to_text(p_, operand)));
      }
    }
    result_is(f32, without(joined({a.axes, b.axes}), axis));
  }

  void accumulates(ValueId accumulator) const {
    if (type(accumulator).dtype == f32 && same_axes(type(accumulator).axes, result().axes)) return;
    fail(
        fmt::format("the accumulator has to be {}, but got {}", text(f32, result().axes), text(accumulator)));
  }

  /// The axes of a tensor's subscripts.
  Axes subscripts(TensorId id, const std::vector<Subscript>& list) const {
    const TensorDecl& tensor = p_.tensor(id);
    if (list.size() != tensor.dims.size()) {
      fail(fmt::format("{} has {} dims, but there are {} subscripts", tensor.name, tensor.dims.size(),
                       list.size()));
    }
    Axes axes;
    for (std::size_t i = 0; i < list.size(); ++i) {
      AxisId axis = list[i].axis;
      if (list[i].value != ValueId::none) scalar_index(list[i].value, "a subscript");
      if (axis == AxisId::none && list[i].value == ValueId::none) fail("a subscript is empty");
      if (axis == AxisId::none) continue;
      const AxisInfo& info = p_.axis(axis);
      if (info.kind == AxisKind::warps || info.dim != tensor.dims[i]) {
        fail(fmt::format("axis '{}' is not of dim {}, which is dim {} of {}", info.name,
                         p_.dim(tensor.dims[i]).name, i, tensor.name));
      }
      if (std::find(axes.begin(), axes.end(), axis) != axes.end())
        fail(fmt::format("axis '{}' stands twice", info.name));
      axes.push_back(axis);
    }
    return axes;
  }

  void store(const Store& o) const {
    const TensorDecl& tensor = p_.tensor(o.tensor);
    const Type& value = type(o.value);
    Axes axes = subscripts(o.tensor, o.subscripts);
    if (!tensor.output) fail(fmt::format("{} is an input", tensor.name));
    if (value.dtype != tensor.dtype || !same_axes(joined({axes, value.axes}), axes)) {
      fail(fmt::format("expected a value of type {}, but got {}", text(tensor.dtype, axes), text(o.value)));
    }
  }

  void loop(const Loop& o) const {
    scalar_index(o.begin, "the begin of a loop");
    scalar_index(o.end, "the end of a loop");
    if (p_.axis(o.axis).kind != AxisKind::loop)
      fail(fmt::format("axis '{}' is not of kind loop", p_.axis(o.axis).name));
    Type number;
    number.dtype = i64;
    for (ValueId id : {o.start, o.ticket}) {
      if (id != ValueId::none && type(id) != number)
        fail("a loop's start and ticket are i64, but got " + text(id));
    }
    if (o.parameters.size() != o.carried.size() || o.body.yields.size() != o.carried.size()) {
      fail(fmt::format("a loop carries {} values, but has {} parameters and yields {}", o.carried.size(),
                       o.parameters.size(), o.body.yields.size()));
    }
    for (std::size_t i = 0; i < o.carried.size(); ++i) {
      for (ValueId id : {o.carried[i], o.body.yields[i], inst_.results[i]}) {
        if (type(id) == type(o.parameters[i])) continue;
        fail(fmt::format("a carried value changes its type: {} and {}", text(o.parameters[i]), text(id)));
      }
    }
  }

  void slot_holds(const Slot& slot, DType dtype, const Axes& axes) const {
    const Type& channel = type(slot.channel);
    if (channel.dtype == dtype && same_axes(channel.axes, axes)) return;
    fail(fmt::format("the slot holds {}, but the tile is {}", text(channel.dtype, channel.axes),
                     text(dtype, axes)));
  }

  const Program& p_;
  const Inst& inst_;
};

}  // namespace

void verify_types(const Program& program, const Inst& inst) {
  TypeRules(program, inst).run();
}

}  // namespace tessera
