#include "tile_core/dsl/tracer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/base/tensor_view.h"
#include "tile_core/dsl/canonical.h"
#include "tile_core/dsl/loop_bounds.h"
#include "tile_core/dsl/names.h"
#include "tile_core/dsl/stores.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {

Tracer::Tracer(std::string name, Loc loc) {
  check_name(name, "program", loc);
  program.name = std::move(name);
}

Block& Tracer::block() {
  return open_.empty() ? program.body : std::get<Loop>(open_.back().inst.op).body;
}

std::vector<const Block*> Tracer::open_blocks() const {
  std::vector<const Block*> blocks = {&program.body};
  for (const OpenLoop& loop : open_) blocks.push_back(&std::get<Loop>(loop.inst.op).body);
  return blocks;
}

ValueId Tracer::new_value(Type type, bool index_expression, Loc loc) {
  locs_.push_back(loc);
  scopes_.push_back(open_.empty() ? 0 : open_.back().scope);
  index_expressions_.push_back(index_expression);
  return program.new_value(std::move(type));
}

bool Tracer::reads_indices_only(const Op& op) const {
  const bool leaf = holds_any<Index, Start, End, Size, Constant, Scalar>(op);
  bool result = leaf || holds_any<Unary, Binary, Select>(op);
  for_each_operand(op, [&](ValueId id) { result = result && is_index_expression(id); });
  return result;
}

void Tracer::check_in_scope(ValueId value, Loc loc) const {
  int scope = scopes_.at(index_of(value));
  bool inside = scope == 0 || std::any_of(open_.begin(), open_.end(),
                                          [&](const OpenLoop& loop) { return loop.scope == scope; });
  if (inside) return;
  Loc made = loc_of(value);
  throw UserError(diagnostic(
      "a value of a loop's body is used after the loop", loc,
      fmt::format("value: {}, made at {}:{}", to_text(program, program.type(value)), made.file, made.line),
      "assign it to a Var that is made before the loop"));
}

bool Tracer::in_scope(AxisId id) const {
  if (id == AxisId::none || program.axis(id).kind != AxisKind::loop) return true;
  return std::any_of(open_.begin(), open_.end(),
                     [&](const OpenLoop& loop) { return std::get<Loop>(loop.inst.op).axis == id; });
}

void Tracer::check_in_scope(AxisId id, Loc loc) const {
  if (in_scope(id)) return;
  const AxisInfo& axis = program.axis(id);
  throw UserError(
      diagnostic(fmt::format("axis '{}' is used outside of its loop", axis.name), loc,
                 fmt::format("{}:{} runs over {}", axis.name, axis.extent, program.dim(axis.dim).name),
                 "use it in the loop's body, or make another axis over the dim"));
}

void Tracer::check_in_scope(const Op& op, Loc loc) const {
  for_each_operand(op, [&](ValueId id) { check_in_scope(id, loc); });
  const auto* load = std::get_if<Load>(&op);
  const auto* store = std::get_if<Store>(&op);
  const auto* subscripts = load != nullptr    ? &load->subscripts
                           : store != nullptr ? &store->subscripts
                                              : nullptr;
  if (subscripts != nullptr) {
    for (const Subscript& s : *subscripts) check_in_scope(s.axis, loc);
  }
  if (const auto* start = std::get_if<Start>(&op)) check_in_scope(start->axis, loc);
  if (const auto* end = std::get_if<End>(&op)) check_in_scope(end->axis, loc);
  if (const auto* reduce = std::get_if<Reduce>(&op)) check_in_scope(reduce->axis, loc);
  if (const auto* dot = std::get_if<Dot>(&op)) check_in_scope(dot->axis, loc);
}

void Tracer::check_size(const Type& type, Loc loc) const {
  std::int64_t elements = 1;
  for (AxisId axis : type.axes) elements *= program.axis(axis).extent;
  if (elements <= kMaxTile) return;
  throw UserError(diagnostic(fmt::format("a tile of {} elements", elements), loc,
                             "tile: " + to_text(program, type),
                             fmt::format("a tile has at most {}: take smaller tiles of its axes", kMaxTile)));
}

ValueId Tracer::emit(Op op, Type type, Loc loc) {
  check_in_scope(op, loc);
  check_size(type, loc);
  for (AxisId axis : type.axes) check_in_scope(axis, loc);
  bool index_expression = reads_indices_only(op);
  ValueId id = new_value(std::move(type), index_expression, loc);
  block().insts.push_back({{id}, std::move(op), loc});
  return id;
}

void Tracer::emit_statement(Op op, Loc loc) {
  if (finished_)
    throw UserError(diagnostic("a store after finish()", loc, "", "call finish() after the last statement"));
  check_in_scope(op, loc);
  block().insts.push_back({{}, std::move(op), loc});
}

ValueId Tracer::constant(double value, Type type, Loc loc) {
  const double rounded = round_to(type.dtype, value);
  const bool floats = is_float(type.dtype);
  const bool fits = floats ? std::isfinite(rounded) == std::isfinite(value) && (rounded == 0) == (value == 0)
                           : holds(type.dtype, value);
  if (!fits) {
    throw UserError(
        diagnostic(fmt::format("the number {} where {} stands", value, name_of(type.dtype)), loc, "",
                   floats ? "it is beyond what the dtype holds: write a smaller one, inf, or 0"
                          : "write a number that the dtype holds, or cast the other operand: cast(f32, x)"));
  }
  return emit(Constant{rounded}, std::move(type), loc);
}

int Tracer::new_variable(ValueId initial) {
  variables_.push_back(initial);
  return static_cast<int>(variables_.size()) - 1;
}

ValueId Tracer::variable(int index, Loc loc) const {
  ValueId value = variables_.at(static_cast<std::size_t>(index));
  if (value == ValueId::none)
    throw UserError(
        diagnostic("a Var of a loop's body is used after the loop", loc, "", "make it before the loop"));
  return value;
}

void Tracer::assign(int index, ValueId value, Loc loc) {
  check_in_scope(value, loc);
  variables_.at(static_cast<std::size_t>(index)) = value;
}

void Tracer::open_loop(AxisId axis, ValueId begin, ValueId end, bool pipelined, Loc loc) {
  Loop loop{.axis = axis, .begin = begin, .end = end, .pipelined = pipelined};
  for (ValueId bound : {begin, end}) check_in_scope(bound, loc);
  open_.push_back({.inst = {{}, {}, loc}, .entry = variables_, .conditions = {}, .scope = ++last_scope_});
  for (ValueId& variable : variables_) {
    if (variable != ValueId::none) variable = new_value(program.type(variable), false, loc);
    loop.parameters.push_back(variable);
  }
  open_.back().inst.op = std::move(loop);
}

void Tracer::visit_where(AxisId axis, ValueId condition, Loc loc) {
  check_in_scope(axis, loc);
  for (OpenLoop& loop : open_) {
    if (std::get<Loop>(loop.inst.op).axis == axis) loop.conditions.push_back(condition);
  }
}

void Tracer::close_loop() {
  OpenLoop open = std::move(open_.back());
  open_.pop_back();
  Loop& loop = std::get<Loop>(open.inst.op);
  std::vector<ValueId> parameters = std::exchange(loop.parameters, {});
  std::vector<std::pair<ValueId, ValueId>> unchanged;
  for (std::size_t i = 0; i < open.entry.size(); ++i) {
    if (variables_[i] == parameters[i]) {
      unchanged.emplace_back(parameters[i], open.entry[i]);
      variables_[i] = open.entry[i];
      continue;
    }
    loop.parameters.push_back(parameters[i]);
    loop.carried.push_back(open.entry[i]);
    loop.body.yields.push_back(variables_[i]);
    variables_[i] = new_value(program.type(parameters[i]), false, open.inst.loc);
    open.inst.results.push_back(variables_[i]);
  }
  std::fill(variables_.begin() + static_cast<std::ptrdiff_t>(open.entry.size()), variables_.end(),
            ValueId::none);
  substitute(loop.body, unchanged);
  if (!open.conditions.empty()) {
    LoopBounds bounds(*this, loop, open.inst.loc);
    for (ValueId condition : open.conditions) bounds.narrow(loop, condition);
  }
  block().insts.push_back(std::move(open.inst));
}

void Tracer::declare(DimInfo dim, Loc loc) {
  program.dims.push_back(std::move(dim));
  dim_locs_.push_back(loc);
}

void Tracer::declare(TensorDecl tensor, Loc loc) {
  if (tensor.dims.size() > TensorView::kMaxRank) {
    throw UserError(diagnostic(
        fmt::format("tensor '{}' has {} dims", tensor.name, tensor.dims.size()), loc, "",
        fmt::format("a tensor has at most {}: let two that lie side by side be one", TensorView::kMaxRank)));
  }
  program.tensors.push_back(std::move(tensor));
  tensor_locs_.push_back(loc);
}

void Tracer::fail_later(std::string message) {
  if (failure_.empty()) failure_ = std::move(message);
}

void Tracer::check_dims() const {
  for (std::size_t i = 0; i < program.dims.size(); ++i) {
    bool sized = std::any_of(program.tensors.begin(), program.tensors.end(), [&](const TensorDecl& tensor) {
      return std::find(tensor.dims.begin(), tensor.dims.end(), static_cast<DimId>(i)) != tensor.dims.end();
    });
    if (sized) continue;
    throw UserError(diagnostic(fmt::format("no tensor has the dim '{}'", program.dims[i].name), dim_locs_[i],
                               "a call's tensors say how large its dims are",
                               "declare a tensor over it, or pass a number: p.scalar(\"size\", i64)"));
  }
}

void Tracer::check_outputs() const {
  std::vector<bool> written(program.tensors.size(), false);
  for_each_inst(program.body, [&](const Inst& inst) {
    if (const Store* store = std::get_if<Store>(&inst.op)) written[index_of(store->tensor)] = true;
  });
  for (std::size_t i = 0; i < written.size(); ++i) {
    const TensorDecl& tensor = program.tensors[i];
    if (!tensor.output || written[i]) continue;
    throw UserError(diagnostic(fmt::format("output '{}' is never written", tensor.name), tensor_locs_[i], "",
                               fmt::format("assign a tile to it: {}(...) = tile", tensor.name)));
  }
}

Program Tracer::finish() {
  if (!failure_.empty()) throw UserError(failure_);
  if (!open_.empty())
    throw UserError(diagnostic("finish() inside a loop", open_.back().inst.loc,
                               "the loop opened here is not closed", "call finish() after the loop's body"));
  check_dims();
  check_outputs();
  check_stores(program);
  finished_ = true;
  return canonical(program);
}

}  // namespace tessera::dsl
