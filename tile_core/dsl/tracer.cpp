#include "tile_core/dsl/tracer.h"

#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/dsl/canonical.h"
#include "tile_core/ir/operands.h"

namespace tessera::dsl {

Tracer::Tracer(std::string name) {
  program.name = std::move(name);
}

Block& Tracer::block() {
  return open_.empty() ? program.body : std::get<Loop>(open_.back().inst.op).body;
}

ValueId Tracer::new_value(Type type, bool index_expression, Loc loc) {
  locs_.push_back(loc);
  index_expressions_.push_back(index_expression);
  return program.new_value(std::move(type));
}

bool Tracer::reads_indices_only(const Op& op) const {
  bool leaf = std::holds_alternative<Index>(op) || std::holds_alternative<Start>(op) ||
              std::holds_alternative<Size>(op) || std::holds_alternative<Constant>(op) ||
              std::holds_alternative<Scalar>(op);
  bool pointwise = std::holds_alternative<Binary>(op) || std::holds_alternative<Unary>(op) ||
                   std::holds_alternative<Select>(op);
  bool result = leaf || pointwise;
  for_each_operand(op, [&](ValueId id) { result = result && is_index_expression(id); });
  return result;
}

ValueId Tracer::emit(Op op, Type type, Loc loc) {
  bool index_expression = reads_indices_only(op);
  ValueId id = new_value(std::move(type), index_expression, loc);
  block().insts.push_back({{id}, std::move(op), loc});
  return id;
}

void Tracer::emit_statement(Op op, Loc loc) {
  block().insts.push_back({{}, std::move(op), loc});
}

ValueId Tracer::constant(double value, DType dtype, Loc loc) {
  return emit(Constant{round_to(dtype, value)}, {.dtype = dtype}, loc);
}

int Tracer::new_variable(ValueId initial) {
  variables_.push_back(initial);
  return static_cast<int>(variables_.size()) - 1;
}

void Tracer::assign(int index, ValueId value) {
  variables_.at(static_cast<std::size_t>(index)) = value;
}

void Tracer::open_loop(AxisId axis, ValueId begin, ValueId end, bool pipelined, Loc loc) {
  Loop loop{.axis = axis, .begin = begin, .end = end, .pipelined = pipelined};
  OpenLoop open{.inst = {{}, {}, loc}, .entry = variables_};
  for (ValueId& variable : variables_) {
    ValueId parameter = new_value(program.type(variable), false, loc);
    loop.parameters.push_back(parameter);
    variable = parameter;
  }
  open.inst.op = std::move(loop);
  open_.push_back(std::move(open));
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
  variables_.resize(open.entry.size());  // a Var of the body ends with it
  substitute(loop.body, unchanged);
  block().insts.push_back(std::move(open.inst));
}

void Tracer::fail_later(std::string message) {
  if (failure_.empty()) failure_ = std::move(message);
}

Program Tracer::finish() {
  if (!failure_.empty()) throw UserError(failure_);
  if (!open_.empty())
    throw UserError(diagnostic("finish() inside a loop", open_.back().inst.loc,
                               "the loop opened here is not closed", "call finish() after the loop's body"));
  return canonical(program);
}

}  // namespace tessera::dsl
