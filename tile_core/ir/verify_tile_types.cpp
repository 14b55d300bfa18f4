#include "tile_core/ir/type_rules.h"

namespace tessera {
namespace {

Axes without(Axes axes, AxisId axis) {
  std::erase(axes, axis);
  return axes;
}

}  // namespace

void TypeRules::constant(const Constant& o) const {
  if (is_float(result().dtype) || holds(result().dtype, o.value)) return;
  fail(fmt::format("{} cannot hold {}", name_of(result().dtype), o.value));
}

void TypeRules::index(const Index& o) const {
  if (o.start != ValueId::none) scalar_index(o.start, "the start of an axis");
  result_is(i64, {o.axis});
}

void TypeRules::unary(const Unary& o) const {
  DType dtype = type(o.a).dtype;
  bool any_number = o.fn == UnaryFn::neg || o.fn == UnaryFn::abs;
  bool fits = o.fn == UnaryFn::logical_not ? dtype == boolean
              : any_number                 ? dtype != boolean
                                           : is_float(dtype);
  if (!fits) fail(fmt::format("{} does not take {}", name_of(o.fn), text(o.a)));
  result_is(dtype, type(o.a).axes);
}

void TypeRules::binary(const Binary& o) const {
  same_dtype(o.a, o.b);
  DType dtype = type(o.a).dtype;
  bool logical = o.fn == BinaryFn::logical_and || o.fn == BinaryFn::logical_or;
  bool fits = logical ? dtype == boolean : compares(o.fn) || dtype != boolean;
  if (o.fn == BinaryFn::mod) fits = is_integer(dtype);
  if (o.fn == BinaryFn::rescale) fits = dtype == f32;
  if (!fits) fail(fmt::format("{} does not take {}", name_of(o.fn), text(o.a)));
  result_is(compares(o.fn) ? boolean : dtype, joined({type(o.a).axes, type(o.b).axes}));
}

void TypeRules::fma(const Fma& o) const {
  for (ValueId id : {o.a, o.b, o.c}) {
    if (type(id).dtype != f32) fail("fma takes f32, but got " + text(id));
  }
  result_is(f32, joined({type(o.a).axes, type(o.b).axes, type(o.c).axes}));
}

void TypeRules::select(const Select& o) const {
  same_dtype(o.a, o.b);
  if (type(o.condition).dtype != boolean)
    fail("the condition has to be boolean, but got " + text(o.condition));
  result_is(type(o.a).dtype, joined({type(o.condition).axes, type(o.a).axes, type(o.b).axes}));
}

Axes TypeRules::contracted(ValueId a, AxisId axis) const {
  if (!type(a).has(axis)) fail(fmt::format("the operand has no axis '{}': {}", p_.axis(axis).name, text(a)));
  if (type(a).dtype == boolean) fail("a boolean cannot be reduced: " + text(a));
  return without(type(a).axes, axis);
}

void TypeRules::reduce_warp(const ReduceWarp& o) const {
  if (p_.axis(o.warps).kind != AxisKind::warps)
    fail(fmt::format("axis '{}' is not of kind warps", p_.axis(o.warps).name));
  Axes axes = contracted(o.a, o.axis);
  axes.push_back(o.warps);
  result_is(type(o.a).dtype, axes);
}

void TypeRules::dot(const Dot& o) const {
  dot_of(type(o.a), type(o.b), o.axis, o.precision);
  if (o.accumulator != ValueId::none) accumulates(o.accumulator);
}

void TypeRules::dot_of(const Type& a, const Type& b, AxisId axis, Precision precision) const {
  for (const Type& operand : {a, b}) {
    if (!operand.has(axis) || !is_float(operand.dtype)) {
      fail(fmt::format("a dot over '{}' does not take {}", p_.axis(axis).name, to_text(p_, operand)));
    }
    if (precision != Precision::ieee && operand.dtype != f32)
      fail(fmt::format("a dot in {} takes f32, but got {}", name_of(precision), to_text(p_, operand)));
  }
  result_is(f32, without(joined({a.axes, b.axes}), axis));
}

void TypeRules::accumulates(ValueId accumulator) const {
  if (type(accumulator).dtype == f32 && same_axes(type(accumulator).axes, result().axes)) return;
  fail(fmt::format("the accumulator has to be {}, but got {}", text(f32, result().axes), text(accumulator)));
}

/// A tile's axis `of`, cut into slices that are seen along axis `to`.
void TypeRules::axis_is_part(AxisId of, AxisId to, const Type& whole) const {
  const AxisInfo& from = p_.axis(of);
  const AxisInfo& part = p_.axis(to);
  if (!whole.has(of)) fail(fmt::format("axis '{}' is not one of {}", from.name, to_text(p_, whole)));
  if (whole.has(to)) fail(fmt::format("axis '{}' stands in {} already", part.name, to_text(p_, whole)));
  bool warps = from.kind == AxisKind::warps || part.kind == AxisKind::warps;
  if (warps || from.dim != part.dim || from.extent % part.extent != 0) {
    fail(fmt::format("axis '{}' of {} lanes is no part of axis '{}' of {}", part.name, part.extent, from.name,
                     from.extent));
  }
}

void TypeRules::slice(const Slice& o) const {
  axis_is_part(o.of, o.to, type(o.a));
  int slices = p_.axis(o.of).extent / p_.axis(o.to).extent;
  if (o.index < 0 || o.index >= slices) fail(fmt::format("slice {} of {}", o.index, slices));
  Axes axes = type(o.a).axes;
  std::replace(axes.begin(), axes.end(), o.of, o.to);
  result_is(type(o.a).dtype, axes);
}

/// The axes of a tensor's subscripts.
Axes TypeRules::subscripts(TensorId id, const std::vector<Subscript>& list) const {
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

void TypeRules::store(const Store& o) const {
  writes(o.tensor, o.subscripts, type(o.value), text(o.value));
  if (o.accumulate) adds_to(o.tensor);
}

void TypeRules::writes(TensorId id, const std::vector<Subscript>& list, const Type& value,
                       const std::string& text) const {
  const TensorDecl& tensor = p_.tensor(id);
  Axes axes = subscripts(id, list);
  if (!tensor.output) fail(fmt::format("{} is an input", tensor.name));
  if (value.dtype != tensor.dtype || !same_axes(joined({axes, value.axes}), axes)) {
    fail(fmt::format("expected a value of type {}, but got {}", this->text(tensor.dtype, axes), text));
  }
}

void TypeRules::adds_to(TensorId id) const {
  const TensorDecl& tensor = p_.tensor(id);
  if (tensor.dtype != f32)
    fail(fmt::format("only f32 is accumulated into, but {} is {}", tensor.name, name_of(tensor.dtype)));
}

}  // namespace tessera
