#include "registration/dispatch/interpreted.h"

#include <bit>

#include "tile_core/base/error.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/target/target.h"

namespace tessera::dispatch {
namespace {

constexpr std::int64_t kLargestWhole = std::int64_t{1} << 53U;  // of a double without gaps

double value_of(std::string_view op, const ScalarValue& scalar) {
  if (scalar.kind == Parameter::Kind::scalar_f32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(scalar.bits));
  const auto whole = static_cast<std::int64_t>(scalar.bits);
  if (whole < -kLargestWhole || whole > kLargestWhole)
    throw UserError::format(
        "{}(): the interpreter, which runs programs on the CPU, holds whole numbers up to 2^53, but got {}",
        op, whole);
  return static_cast<double>(whole);
}

}  // namespace

std::vector<double> interpreter_numbers(std::string_view op, std::span<const ScalarValue> scalars) {
  std::vector<double> numbers;
  for (const ScalarValue& scalar : scalars) numbers.push_back(value_of(op, scalar));
  return numbers;
}

void run_in_interpreter(const Call& call) {
  const ops::Problem problem = call.problem();
  const ops::Variant variant = call.op().space(problem, Target::all().front()).front();
  const Program program = call.op().program(problem.facts, variant.tiles);
  interpret(program, {call.tensors().begin(), call.tensors().end()},
            interpreter_numbers(call.name(), call.scalars()));
}

}  // namespace tessera::dispatch
