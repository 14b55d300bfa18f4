#include "tile_core/base/error.h"
#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"

namespace tessera::codegen {
namespace {

const char* function_of(ReduceFn fn) {
  switch (fn) {
    case ReduceFn::sum:
      return "math_add";
    case ReduceFn::max:
      return "math_max";
    case ReduceFn::min:
      return "math_min";
  }
  throw InternalError::format("codegen: no function for reduction {}", static_cast<int>(fn));
}

}  // namespace

/// Over each thread's registers, then over the lanes that differ along the axis: afterwards all of them have
/// the result.
void Emitter::emit_reduce(const Inst& inst, ReduceFn fn, ValueId operand, AxisId axis) {
  ValueId id = inst.result();
  const Layout& from = p_.type(operand).layout;
  const Layout& to = p_.type(id).layout;
  DType dtype = p_.type(id).dtype;
  std::string result = declare(id);
  bool tile = is_tile(id);
  if (!tile) line("{} {}[1];", c_type(dtype), result);
  int count = to.count(Place::reg);
  open_registers(count);
  line("{}[r] = {};", result, literal(dtype, identity(fn, dtype)));
  close();
  open_registers(from.count(Place::reg));
  std::string index = register_index(from, to, "r");
  line("{0}[{1}] = {2}({0}[{1}], {3}[r]);", result, index, function_of(fn), name(operand));
  close();
  int lanes = 1;
  for (const Repeat& repeat : from.repeats()) {
    if (repeat.place != Place::lane) continue;
    for (int mask = lanes * repeat.count / 2; repeat.axis == axis && mask >= lanes; mask /= 2) {
      open_registers(count);
      line("{0}[r] = {1}({0}[r], shuffle_xor({0}[r], {2}));", result, function_of(fn), mask);
      close();
    }
    lanes *= repeat.count;
  }
  if (!tile) names_[id] = result + "[0]";
}

}  // namespace tessera::codegen
