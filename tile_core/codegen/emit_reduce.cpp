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

/// Over each thread's registers, in several chains where they are many: each operation of one waits for the
/// one before.
void Emitter::fold_registers(ReduceFn fn, ValueId operand, AxisId axis, const Folded& to) {
  constexpr int kChains = 4;
  const Layout& from = p_.type(operand).layout;
  const int count = to.layout.count(Place::reg), folded = from.count(Place::reg) / count;
  const char* f = function_of(fn);
  const std::string start = literal(to.dtype, identity(fn, to.dtype)), x = name(operand);
  const std::string row = register_index(from, to.layout, "r");
  if (folded % kChains != 0 || folded < 2 * kChains) {
    open_registers(count);
    line("{}[r] = {};", to.name, start);
    close();
    open_registers(from.count(Place::reg));
    line("{0}[{1}] = {2}({0}[{1}], {3}[r]);", to.name, row, f, x);
    close();
    return;
  }
  line("{} {}_chains[{}];", c_type(to.dtype), to.name, count * kChains);
  open_registers(from.count(Place::reg));
  line("const int place = {}, chain = ({}) * {} + place % {};",
       register_index(from, from.restrict_to({axis}), "r"), row, kChains, kChains);
  line("{0}_chains[chain] = place < {1} ? {3}[r] : {2}({0}_chains[chain], {3}[r]);", to.name, kChains, f, x);
  close();
  open_registers(count);
  line("const {0}* c = {1}_chains + r * {2};", c_type(to.dtype), to.name, kChains);
  line("{0}[r] = {1}({2}, {1}({1}(c[0], c[1]), {1}(c[2], c[3])));", to.name, f, start);
  close();
}

/// Over the lanes that differ along the axis: afterwards all of them have the result.
void Emitter::fold_lanes(ReduceFn fn, const Layout& from, AxisId axis, const std::string& result, int count) {
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
}

/// Over each thread's registers, then over lanes, but for sums that wait for the end of a loop.
void Emitter::emit_reduce(const Inst& inst, ReduceFn fn, ValueId operand, AxisId axis) {
  ValueId id = inst.result();
  const Layout& from = p_.type(operand).layout;
  const Layout& to = p_.type(id).layout;
  DType dtype = p_.type(id).dtype;
  std::string result = declare(id);
  bool tile = is_tile(id);
  if (!tile) line("{} {}[1];", c_type(dtype), result);
  int count = to.count(Place::reg);
  fold_registers(fn, operand, axis, {result, to, dtype});
  if (!partial_.contains(&inst)) fold_lanes(fn, from, axis, result, count);
  if (!tile) names_[id] = result + "[0]";
}

/// Of warps alone: beside groups with roles, other warps hide the shuffles.
std::vector<PartialSum> Emitter::defer_lanes(const Inst& loop) {
  if (role_ != nullptr) return {};
  std::vector<PartialSum> sums = partial_sums(p_, loop, uses_);
  for (const PartialSum& sum : sums) partial_.insert(sum.reduce);
  return sums;
}

void Emitter::fold_deferred(const PartialSum& sum) {
  const auto& reduce = std::get<Reduce>(sum.reduce->op);
  fold_lanes(reduce.fn, p_.type(reduce.a).layout, reduce.axis, name(sum.result), registers(sum.result));
}

}  // namespace tessera::codegen
