#include "tile_core/dsl/math.h"

#include <algorithm>
#include <numbers>

#include "tile_core/base/error.h"
#include "tile_core/dsl/typing.h"

namespace tessera::dsl {
namespace {

Tile reduce(ReduceFn fn, const Operand& x, const Axis& axis, Loc loc) {
  Tracer& tracer = tracer_of({&x});
  check_same_program(tracer, axis.tracer(), loc);
  if (x.type().dtype == boolean || !x.type().has(axis.id())) {
    bool lacks = !x.type().has(axis.id());
    throw UserError(diagnostic(
        lacks
            ? fmt::format("reduce_{} over axis '{}', which the operand lacks", name_of(fn), axis.info().name)
            : fmt::format("reduce_{} of boolean", name_of(fn)),
        loc, describe({x}),
        lacks ? "reduce over an axis of the operand" : "select numbers first: where(condition, 1, 0)"));
  }
  DType dtype = is_float(x.type().dtype) ? f32 : i64;
  Type type{.dtype = dtype, .axes = x.type().axes};
  std::erase(type.axes, axis.id());
  ValueId operand = as(tracer, x, dtype);
  return {&tracer, tracer.emit(Reduce{fn, operand, axis.id()}, std::move(type), loc)};
}

/// x / 2 * (1 + tanh(u)).
Tile half_of_one_and(const Tile& x, const Tile& u) {
  Tile half = x * 0.5;
  return half * unary(UnaryFn::fast_tanh, u) + half;
}

}  // namespace

Tile exp(const Operand& x) {
  return unary(UnaryFn::exp, x);
}
Tile exp2(const Operand& x) {
  return unary(UnaryFn::exp2, x);
}
Tile log(const Operand& x) {
  return unary(UnaryFn::log, x);
}
Tile log2(const Operand& x) {
  return unary(UnaryFn::log2, x);
}
Tile sqrt(const Operand& x) {
  return unary(UnaryFn::sqrt, x);
}
Tile rsqrt(const Operand& x) {
  return unary(UnaryFn::rsqrt, x);
}
Tile tanh(const Operand& x) {
  return unary(UnaryFn::tanh, x);
}
Tile erf(const Operand& x) {
  return unary(UnaryFn::erf, x);
}
Tile erfc(const Operand& x) {
  return unary(UnaryFn::erfc, x);
}
Tile abs(const Operand& x) {
  return unary(UnaryFn::abs, x);
}
Tile max(const Operand& a, const Operand& b) {
  return binary(BinaryFn::max, a, b);
}
Tile min(const Operand& a, const Operand& b) {
  return binary(BinaryFn::min, a, b);
}

Tile rescale(const Operand& x, const Operand& factor) {
  return binary(BinaryFn::rescale, x, factor);
}

Tile where(const Operand& condition, const Operand& a, const Operand& b) {
  Tracer& tracer = tracer_of({&condition, &a, &b});
  if (condition.is_number() || condition.type().dtype != boolean) {
    throw UserError(diagnostic("where() needs a condition", condition.loc(), describe({condition, a, b}),
                               "compare: where(x < y, a, b)"));
  }
  if (a.is_number() && b.is_number()) {
    throw UserError(diagnostic("where() chooses between two numbers of unknown dtype", condition.loc(),
                               describe({condition, a, b}), "make one a tile: p.full(f32, {axis}, value)"));
  }
  bool keep = !a.is_number() && !b.is_number() && a.type().dtype == b.type().dtype;
  DType dtype = keep ? a.type().dtype : joined_dtype(tracer, "where", a, b);
  std::vector<AxisId> axes = joined_axes(tracer, "where", {condition, a, b});
  Select op{condition.id(), as(tracer, a, dtype), as(tracer, b, dtype)};
  return {&tracer, tracer.emit(op, {.dtype = dtype, .axes = std::move(axes)}, condition.loc())};
}

Tile mask(const Operand& scores, const Operand& condition, const Axis& axis, Loc loc) {
  Tile masked = where(condition, scores, {-inf, loc});
  check_same_program(masked.tracer(), axis.tracer(), loc);
  if (axis.info().kind == AxisKind::loop) masked.tracer().visit_where(axis.id(), condition.id(), loc);
  return masked;
}

Tile cast(DType dtype, const Operand& x) {
  Tracer& tracer = tracer_of({&x});
  return {&tracer, as(tracer, x, dtype)};
}

Tile reduce_sum(const Operand& x, const Axis& axis, Loc loc) {
  return reduce(ReduceFn::sum, x, axis, loc);
}
Tile reduce_max(const Operand& x, const Axis& axis, Loc loc) {
  return reduce(ReduceFn::max, x, axis, loc);
}
Tile reduce_min(const Operand& x, const Axis& axis, Loc loc) {
  return reduce(ReduceFn::min, x, axis, loc);
}

Tile dot(const Operand& a, const Operand& b, const Axis& axis, Precision precision, Loc loc) {
  Tracer& tracer = tracer_of({&a, &b});
  const std::string& name = axis.info().name;
  check_same_program(tracer, axis.tracer(), loc);
  for (const Operand* operand : {&a, &b}) {
    const char* which = operand == &a ? "first" : "second";
    if (operand->is_number() || !operand->type().has(axis.id())) {
      throw UserError(diagnostic(
          fmt::format("dot contracts over axis '{}', but the {} operand has no such axis", name, which), loc,
          describe({a, b}), "index both operands with the axis you contract"));
    }
    if (!is_float(operand->type().dtype)) {
      throw UserError(
          diagnostic(fmt::format("the {} operand of a dot is {}", which, name_of(operand->type().dtype)), loc,
                     describe({a, b}), "operands are f16, bf16 or f32: cast(f32, x)"));
    }
    if (precision != Precision::ieee && operand->type().dtype != f32) {
      throw UserError(diagnostic(fmt::format("the {} operand of a dot in {} is {}", which, name_of(precision),
                                             name_of(operand->type().dtype)),
                                 loc, describe({a, b}),
                                 "only f32 is rounded: leave the precision out, or cast(f32, x)"));
    }
  }
  Type type{.dtype = f32};
  for (const Operand* operand : {&a, &b}) {
    for (AxisId id : operand->type().axes) {
      if (id == axis.id()) continue;
      if (type.has(id)) {
        throw UserError(diagnostic(
            fmt::format("both operands of a dot have axis '{}'", tracer.program.axis(id).name), loc,
            describe({a, b}), fmt::format("only the contracted axis '{}' may stand in both", name)));
      }
      type.axes.push_back(id);
    }
  }
  return {&tracer,
          tracer.emit(Dot{a.id(), b.id(), axis.id(), ValueId::none, precision}, std::move(type), loc)};
}

Tile broadcast(const Operand& x, std::initializer_list<Axis> axes) {
  Tracer& tracer = tracer_of({&x});
  Type type = x.type();
  for (const Axis& axis : axes) {
    check_same_program(tracer, axis.tracer(), x.loc());
    if (!type.has(axis.id())) type.axes.push_back(axis.id());
  }
  return {&tracer, tracer.emit(Broadcast{x.id()}, std::move(type), x.loc())};
}

Tile outer(const Operand& a, const Operand& b) {
  Tracer& tracer = tracer_of({&a, &b});
  if (a.is_number() || b.is_number()) return binary(BinaryFn::mul, a, b);
  Type type = a.type();
  for (AxisId axis : b.type().axes) {
    if (!type.has(axis)) type.axes.push_back(axis);
  }
  Tile wide{&tracer, tracer.emit(Broadcast{a.id()}, std::move(type), a.loc())};
  return binary(BinaryFn::mul, Operand(wide, a.loc()), b);
}

Tile gelu(const Operand& x, DType result) {
  Tile value = cast(f32, x);
  if (result == bf16) {
    Tile square = value * value;
    // 1 + erf(x / sqrt 2) = 1 + tanh(x q(x^2)): q is a fit of logit(Phi(x)) / (2 x) on [-9, 9].
    Tile q =
        (((square * 1.112630754e-6 - 3.046718187e-5) * square - 1.254762872e-4) * square + 3.646993090e-2) *
            square +
        7.978275764e-1;
    return half_of_one_and(value, value * q);
  }
  constexpr double kInverseSqrt2 = std::numbers::sqrt2 / 2;
  return value * 0.5 * erfc(value * -kInverseSqrt2);
}

Tile gelu_tanh(const Operand& x, DType result) {
  const double twice = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2 / pi)
  Tile value = cast(f32, x);
  if (result == bf16)
    return half_of_one_and(value, value * (value * value * (0.044715 * twice / 2) + twice / 2));
  Tile u = value * (1 + value * value * 0.044715);
  return value / (1 + exp(u * -twice));
}

}  // namespace tessera::dsl
