#include "tile_core/dsl/tile.h"

#include <bit>

#include "tile_core/base/error.h"
#include "tile_core/dsl/typing.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {
namespace {

bool is_logical(BinaryFn fn) {
  return fn == BinaryFn::logical_and || fn == BinaryFn::logical_or;
}

}  // namespace

void Number::check_digits(std::uint64_t magnitude, bool negative, Loc loc) {
  constexpr int kDigits = 53;  // of a double
  if (magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= kDigits) return;
  throw UserError(diagnostic(
      fmt::format("the number {}{} has more than {} bits", negative ? "-" : "", magnitude, kDigits), loc, "",
      "pass it as a number of the call: p.scalar(\"limit\", i64)"));
}

Operand::Operand(const Var& variable, Loc loc)
    : tracer_(&variable.tracer()), id_(variable.id(loc)), loc_(loc) {}

Operand::Operand(const Dim& dim, Loc loc)
    : tracer_(&dim.tracer()), id_(dim.tracer().emit(Size{dim.id()}, {.dtype = i64}, loc)), loc_(loc) {}

Var::Var(const Tile& initial)
    : tracer_(&initial.tracer()), index_(initial.tracer().new_variable(initial.id())) {}

Var& Var::operator=(const Operand& value) {
  if (!value.is_number()) check_same_program(*tracer_, *value.tracer(), value.loc());
  const Type declared = tracer_->program.type(id(value.loc()));
  ValueId id = value.in(*tracer_, declared.dtype);
  const Type& type = tracer_->program.type(id);
  if (type.dtype != declared.dtype || (!same_axes(type.axes, declared.axes) && !type.axes.empty())) {
    throw UserError(diagnostic("a Var is assigned a value of another type", value.loc(),
                               fmt::format("variable: {}  value: {}", to_text(tracer_->program, declared),
                                           to_text(tracer_->program, type)),
                               "a Var keeps the dtype and the axes that it was made with"));
  }
  if (type.axes != declared.axes) id = tracer_->emit(Broadcast{id}, declared, value.loc());
  tracer_->assign(index_, id, value.loc());
  return *this;
}

Var& Var::operator+=(const Operand& value) {
  return *this = Operand(binary(BinaryFn::add, Operand(*this, value.loc()), value), value.loc());
}

Tile unary(UnaryFn fn, const Operand& a) {
  Tracer& tracer = tracer_of({&a});
  DType dtype = is_float(a.type().dtype) ? f32 : a.type().dtype;
  bool fits = fn == UnaryFn::logical_not                 ? dtype == boolean
              : fn == UnaryFn::neg || fn == UnaryFn::abs ? dtype != boolean
                                                         : dtype == f32;
  if (!fits) {
    throw UserError(diagnostic(
        fmt::format("{} of {}", name_of(fn), name_of(dtype)), a.loc(), describe({a}),
        fn == UnaryFn::logical_not ? "write a comparison first" : "cast the operand: cast(f32, x)"));
  }
  return {&tracer,
          tracer.emit(Unary{fn, as(tracer, a, dtype)}, {.dtype = dtype, .axes = a.type().axes}, a.loc())};
}

Tile binary(BinaryFn fn, const Operand& a, const Operand& b) {
  Tracer& tracer = tracer_of({&a, &b});
  DType dtype = joined_dtype(tracer, name_of(fn), a, b);
  if (fn == BinaryFn::mod && is_float(dtype)) {
    throw UserError(
        diagnostic("mod of floating-point numbers", a.loc(), describe({a, b}), "% is for indices: i64"));
  }
  if (fn == BinaryFn::rescale && dtype != f32) {
    throw UserError(diagnostic(fmt::format("rescale of {}", name_of(dtype)), a.loc(), describe({a, b}),
                               "it is for sums, which are f32: cast(f32, x)"));
  }
  if ((fn == BinaryFn::div || fn == BinaryFn::mod) && is_integer(dtype) && b.is_number() && b.number() == 0) {
    throw UserError(diagnostic(fmt::format("{} of integers by 0", name_of(fn)), b.loc(), describe({a, b}),
                               "divide by a number, or by a value that is not 0"));
  }
  if (is_logical(fn) != (dtype == boolean) && !(compares(fn) && dtype == boolean)) {
    throw UserError(diagnostic(
        fmt::format("{} of {}", name_of(fn), name_of(dtype)), a.loc(), describe({a, b}),
        is_logical(fn) ? "write comparisons first" : "select between values: where(condition, a, b)"));
  }
  std::vector<AxisId> axes = joined_axes(tracer, name_of(fn), {a, b});
  DType result = compares(fn) ? boolean : dtype;
  Binary op{fn, as(tracer, a, dtype), as(tracer, b, dtype)};
  return {&tracer, tracer.emit(op, {.dtype = result, .axes = std::move(axes)}, a.loc())};
}

}  // namespace tessera::dsl
