#include "registration/dispatch/interpreted.h"

#include <bit>

#include "tile_core/interpreter/interpreter.h"
#include "tile_core/target/target.h"

namespace tessera::dispatch {
namespace {

double value_of(const ScalarValue& scalar) {
  if (scalar.kind == Parameter::Kind::scalar_i64)
    return static_cast<double>(static_cast<std::int64_t>(scalar.bits));
  return std::bit_cast<float>(static_cast<std::uint32_t>(scalar.bits));
}

}  // namespace

void run_in_interpreter(const Call& call) {
  const ops::Problem problem = call.problem();
  const ops::Variant variant = call.op().space(problem, Target::all().front()).front();
  const Program program = call.op().program(problem.facts, variant.tiles);
  std::vector<double> scalars;
  for (const ScalarValue& scalar : call.scalars()) scalars.push_back(value_of(scalar));
  interpret(program, {call.tensors().begin(), call.tensors().end()}, scalars);
}

}  // namespace tessera::dispatch
