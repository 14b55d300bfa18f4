#include "tile_core/dsl/typing.h"

#include <algorithm>
#include <array>

#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {
namespace {

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

void check_same_program(const Tracer& a, const Tracer& b, Loc loc) {
  if (&a == &b) return;
  throw UserError(diagnostic("two programs meet", loc,
                             fmt::format("'{}' and '{}'", a.program.name, b.program.name),
                             "make dims, axes and values with one Builder"));
}

Tracer& tracer_of(std::initializer_list<const Operand*> operands) {
  Tracer* tracer = nullptr;
  for (const Operand* operand : operands) {
    if (operand->is_number()) continue;
    if (tracer != nullptr) check_same_program(*tracer, *operand->tracer(), operand->loc());
    tracer = operand->tracer();
  }
  if (tracer == nullptr) {
    throw UserError(diagnostic("an expression has only plain numbers", (*operands.begin())->loc(), "",
                               "at least one operand must be a tile"));
  }
  return *tracer;
}

std::string describe(const std::vector<Operand>& operands) {
  constexpr std::array kOrdinals = {"first", "second", "third"};
  std::string text;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    std::string type = o.is_number() ? fmt::format("{}", o.number()) : to_text(o.tracer()->program, o.type());
    text += fmt::format("{}{}: {}", text.empty() ? "" : "  ", kOrdinals.at(i), type);
  }
  return text;
}

std::vector<AxisId> joined_axes(Tracer& tracer, const char* operation, const std::vector<Operand>& operands) {
  std::vector<AxisId> axes;
  bool indices_only = true;
  for (const Operand& o : operands) {
    if (o.is_number()) continue;
    indices_only = indices_only && tracer.is_index_expression(o.id());
    for (AxisId axis : o.type().axes) {
      if (!contains(axes, axis)) axes.push_back(axis);
    }
  }
  for (const Operand& o : operands) {
    if (!o.is_number() && o.type().axes.size() == axes.size()) return o.type().axes;
  }
  if (indices_only || axes.empty()) return axes;
  throw UserError(diagnostic(
      fmt::format("{} joins axes that no operand has together", operation), operands.front().loc(),
      describe(operands), "write outer(x, y) where every pair is meant, or index both with the same axes"));
}

DType joined_dtype(Tracer&, const char* operation, const Operand& a, const Operand& b) {
  auto work = [](DType dtype) { return is_float(dtype) ? f32 : dtype; };
  if (a.is_number()) return work(b.type().dtype);
  if (b.is_number()) return work(a.type().dtype);
  DType first = work(a.type().dtype);
  DType second = work(b.type().dtype);
  if (first == second) return first;
  if (is_integer(first) && is_integer(second)) return i64;
  throw UserError(diagnostic(fmt::format("{} of {} and {}", operation, name_of(first), name_of(second)),
                             a.loc(), describe({a, b}), "cast one operand: cast(f32, x)"));
}

ValueId as(Tracer& tracer, const Operand& operand, DType dtype) {
  ValueId id = operand.in(tracer, dtype);
  const Type& type = tracer.program.type(id);
  if (type.dtype == dtype) return id;
  return tracer.emit(Cast{id}, {.dtype = dtype, .axes = type.axes}, operand.loc());
}

}  // namespace tessera::dsl
