#include "registration/user/definition.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include "registration/calls/call.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/target/schedule_fields.h"

namespace tessera {
namespace {

c10::FunctionSchema parse(const std::string& text) {
  try {
    return torch::jit::parseSchema(text);
  } catch (const c10::Error& error) {
    throw UserError::format("register_operator: the schema '{}' does not parse: {}", text,
                            error.what_without_backtrace());
  } catch (const std::exception& error) {  // of torch's parser, where the text ends too soon
    throw UserError::format("register_operator: the schema '{}' does not parse: {}", text, error.what());
  }
}

bool is_number(const c10::Argument& argument) {
  const c10::TypeKind kind = argument.type()->kind();
  return kind == c10::TypeKind::FloatType || kind == c10::TypeKind::IntType ||
         kind == c10::TypeKind::BoolType;
}

bool is_tensor(const c10::Argument& argument) {
  return argument.type()->kind() == c10::TypeKind::TensorType;
}

}  // namespace

UserOperator::Definition::Definition(const std::string& schema, ProgramOf program,
                                     const OperatorOptions& options)
    : schema_(parse(schema)), name_(schema_.name()), make_(std::move(program)), schedule_(options.schedule) {
  if (name_.find("::") == std::string::npos)
    throw UserError::format("register_operator: the schema '{}' has no namespace: write mine::{}", schema,
                            name_);
  if (!schema_.overload_name().empty())
    throw UserError::format(
        "register_operator: the schema '{}' names the overload '{}'; an operator has one, without a name: "
        "write {}(...), and another operator for other arguments",
        schema, schema_.overload_name(), name_);
  for (const c10::Argument& argument : schema_.arguments()) {
    if (is_tensor(argument) ? argument.alias_info() == nullptr : is_number(argument)) continue;
    throw UserError::format(
        "register_operator: {}: argument '{}' is {}; tile programs take Tensor, float, int and bool, and "
        "change no argument",
        name_, argument.name(), argument.type()->str());
  }
  if (std::ranges::none_of(schema_.arguments(), is_tensor))
    throw UserError::format(
        "register_operator: {}: has no Tensor argument; a program's sizes, dtypes and device are its inputs'",
        name_);
  for (const c10::Argument& result : schema_.returns()) {
    if (is_tensor(result) && result.alias_info() == nullptr) continue;
    throw UserError::format("register_operator: {}: returns {}; tile programs return new tensors", name_,
                            result.type()->str());
  }
  if (!make_)
    throw UserError::format("register_operator: {}: the std::function of its program is empty", name_);
  if (const auto broken = broken_fields(schedule_); !broken.empty())
    throw UserError::format("register_operator: {}: its schedule is not legal: {}", name_,
                            broken.front().sentence);
}

Program UserOperator::Definition::make(const std::vector<DType>& dtypes) const {
  std::string why = "an exception of no known type";
  try {
    return make_(dtypes);
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {  // says nothing
  }
  std::vector<std::string_view> names;
  for (const DType dtype : dtypes) names.push_back(name_of(dtype));
  throw UserError::format("{}: its program threw: {} (for dtypes {})", name_, why, fmt::join(names, ", "));
}

const Program& UserOperator::Definition::program(const std::vector<DType>& dtypes) const {
  {
    const std::shared_lock lock(mutex_);
    const auto found = programs_.find(dtypes);
    if (found != programs_.end()) return found->second;
  }
  Program made = make(dtypes);
  check_fits(made);
  const std::unique_lock lock(mutex_);
  return programs_.emplace(dtypes, std::move(made)).first->second;
}

void UserOperator::Definition::check_fits(const Program& program) const {
  const auto count = [](const auto& items, auto test) {
    return static_cast<std::size_t>(std::ranges::count_if(items, test));
  };
  const auto expect = [&](const char* what, std::size_t in_schema, std::size_t in_program) {
    if (in_schema == in_program) return;
    throw UserError::format("{}: the schema has {} {}, but the program '{}' has {}", name_, in_schema, what,
                            program.name, in_program);
  };
  const auto is_output = [](const TensorDecl& tensor) { return tensor.output; };
  expect("tensor arguments", count(schema_.arguments(), is_tensor),
         program.tensors.size() - count(program.tensors, is_output));
  expect("numbers", count(schema_.arguments(), is_number), program.scalars.size());
  expect("returned tensors", schema_.returns().size(), count(program.tensors, is_output));
  auto scalar = program.scalars.begin();
  for (const c10::Argument& argument : schema_.arguments()) {
    if (!is_number(argument)) continue;
    if (argument.type()->kind() == c10::TypeKind::FloatType && scalar->dtype == i64)
      throw UserError::format(
          "{}: the schema's '{}' is float, but the program's scalar '{}' is i64, which would cut it: declare "
          "int there, or f32 here",
          name_, argument.name(), scalar->name);
    ++scalar;
  }
}

Kernel& UserOperator::Definition::kernel(const Program& program, std::span<const TensorView> tensors,
                                         int device) const {
  Facts facts;
  std::vector<std::int64_t> key = {device, reinterpret_cast<std::int64_t>(&program)};
  for (const TensorView& view : tensors) {
    facts.tensors.push_back(facts_of(view, /*boxes=*/true));
    key.push_back(facts.tensors.back().contiguous_dim);
    key.push_back(facts.tensors.back().alignment);
    key.push_back(facts.tensors.back().bulk ? 1 : 0);
  }
  {
    const std::shared_lock lock(mutex_);
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return *found->second;
  }
  const Target target = dispatch::device_of(device).target;
  Kernel& kernel = kernel_store::get(lower_on_any_path(program, facts, schedule_, target)->kernel, target);
  const std::unique_lock lock(mutex_);
  kernels_.emplace(std::move(key), &kernel);
  return kernel;
}

}  // namespace tessera
