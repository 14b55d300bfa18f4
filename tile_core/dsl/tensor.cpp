#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/dsl/builder.h"
#include "tile_core/dsl/typing.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {
namespace {

/// "bf16(M, K)"
std::string signature(const Program& program, const TensorDecl& decl) {
  std::string dims;
  for (DimId dim : decl.dims) dims += (dims.empty() ? "" : ", ") + program.dim(dim).name;
  return fmt::format("{} {}({})", decl.name, name_of(decl.dtype), dims);
}

Subscript subscript(Tracer& tracer, const TensorDecl& decl, std::size_t i, const Position& position) {
  const Program& program = tracer.program;
  if (position.tracer() != nullptr) check_same_program(tracer, *position.tracer(), position.loc());
  if (position.axis() == AxisId::none) {
    const Operand& scalar = position.scalar();
    if (!scalar.is_number() && !is_integer(scalar.type().dtype)) {
      throw UserError(diagnostic(
          fmt::format("subscript {} of '{}' is {}", i + 1, decl.name, name_of(scalar.type().dtype)),
          position.loc(),
          fmt::format("{}  subscript: {}", signature(program, decl), to_text(program, scalar.type())),
          "a subscript is an axis or an integer scalar"));
    }
    ValueId id = as(tracer, scalar, i64);
    if (tracer.program.type(id).axes.empty()) return {.value = id};
    throw UserError(diagnostic(
        fmt::format("subscript {} of '{}' is a tile", i + 1, decl.name), position.loc(),
        fmt::format("{}  subscript: {}", signature(program, decl), to_text(program, program.type(id))),
        "a subscript is an axis or a scalar"));
  }
  const AxisInfo& axis = program.axis(position.axis());
  if (axis.dim == decl.dims[i]) return {.axis = position.axis()};
  throw UserError(diagnostic(fmt::format("subscript {} of '{}' is an axis of another dim", i + 1, decl.name),
                             position.loc(),
                             fmt::format("{}  axis {} runs over {}", signature(program, decl), axis.name,
                                         program.dim(axis.dim).name),
                             "index each dim with an axis of that dim, or with a scalar"));
}

std::vector<Subscript> subscripts(Tracer& tracer, TensorId id, const std::vector<Position>& positions,
                                  Loc loc) {
  const TensorDecl decl = tracer.program.tensor(id);
  if (positions.size() != decl.dims.size()) {
    throw UserError(diagnostic(
        fmt::format("'{}' has {} dims and is indexed with {}", decl.name, decl.dims.size(), positions.size()),
        loc, signature(tracer.program, decl), "write one subscript per dim"));
  }
  std::vector<Subscript> result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    result.push_back(subscript(tracer, decl, i, positions[i]));
    auto same = [&](const Subscript& s) { return s.axis != AxisId::none && s.axis == result.back().axis; };
    if (std::count_if(result.begin(), result.end(), same) > 1) {
      throw UserError(diagnostic(fmt::format("'{}' is indexed twice with one axis", decl.name), loc,
                                 fmt::format("{}  axis: {}", signature(tracer.program, decl),
                                             tracer.program.axis(result.back().axis).name),
                                 "make a second axis over the same dim"));
    }
  }
  return result;
}

std::vector<AxisId> axes_of(const std::vector<Subscript>& subscripts) {
  std::vector<AxisId> axes;
  for (const Subscript& s : subscripts) {
    if (s.axis != AxisId::none) axes.push_back(s.axis);
  }
  return axes;
}

}  // namespace

Tile In::at(const std::vector<Position>& positions, Loc loc) const {
  std::vector<Subscript> list = subscripts(*tracer_, id_, positions, loc);
  Type type{.dtype = tracer_->program.tensor(id_).dtype, .axes = axes_of(list)};
  return {tracer_, tracer_->emit(Load{id_, std::move(list)}, std::move(type), loc)};
}

void Out::Place::operator=(const Operand& value) && {
  write(value, false);
}

void Out::Place::operator+=(const Operand& value) && {
  const TensorDecl& decl = tracer_->program.tensor(id_);
  if (decl.dtype != f32) {
    throw UserError(diagnostic(
        fmt::format("'{}' is {}, and tiles are added to f32 alone", decl.name, name_of(decl.dtype)), loc_,
        signature(tracer_->program, decl),
        is_float(decl.dtype) ? "declare it f32, whose sums are rounded less, and cast them after the call"
                             : "declare it f32, or sum in a loop and assign: out(...) = sum"));
  }
  write(value, true);
}

void Out::Place::write(const Operand& value, bool accumulate) {
  const TensorDecl decl = tracer_->program.tensor(id_);
  std::vector<Subscript> list = subscripts(*tracer_, id_, positions_, loc_);
  std::vector<AxisId> axes = axes_of(list);
  if (!value.is_number()) check_same_program(*tracer_, *value.tracer(), value.loc());
  ValueId id = value.in(*tracer_, decl.dtype);
  const Type type = tracer_->program.type(id);
  bool fits = type.dtype == decl.dtype && std::all_of(type.axes.begin(), type.axes.end(), [&](AxisId axis) {
                return std::count(axes.begin(), axes.end(), axis) == 1;
              });
  if (!fits) {
    Type wanted{.dtype = decl.dtype, .axes = axes};
    throw UserError(diagnostic(
        fmt::format("a {} to '{}' of another type", accumulate ? "sum" : "store", decl.name), value.loc(),
        fmt::format("tensor: {}  value: {}", to_text(tracer_->program, wanted),
                    to_text(tracer_->program, type)),
        "cast the value to the tensor's dtype, and reduce the axes that it lacks"));
  }
  if (type.axes.size() != axes.size())
    id = tracer_->emit(Broadcast{id}, {.dtype = decl.dtype, .axes = axes}, value.loc());
  tracer_->emit_statement(Store{id_, std::move(list), id, accumulate}, loc_);
}

}  // namespace tessera::dsl
