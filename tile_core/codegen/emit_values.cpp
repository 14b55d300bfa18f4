#include <cmath>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/base/match.h"
#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"

namespace tessera::codegen {

namespace {

/// C++ has no literal of the least i64.
std::string literal_of(std::int64_t value) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  return value == kLeast ? fmt::format("{} - 1", kLeast + 1) : fmt::format("{}", value);
}

}  // namespace

std::string Emitter::literal(DType dtype, double value) const {
  if (dtype == boolean) return value != 0 ? "true" : "false";
  if (is_integer(dtype)) return fmt::format("{}({})", c_type(dtype), literal_of(integer_of(value)));
  std::string text = fmt::format("{:.9g}", value);
  if (std::isnan(value)) text = "not_a_number()";
  if (std::isinf(value)) text = value > 0 ? "infinity()" : "-infinity()";
  if (std::isfinite(value)) text += text.find_first_of(".e") == std::string::npos ? ".0f" : "f";
  return dtype == f32 ? text : fmt::format("convert<{}>({})", c_type(dtype), text);
}

std::string Emitter::unary(const Unary& o, const std::string& a) const {
  if (o.fn == UnaryFn::neg) return "-" + a;
  if (o.fn == UnaryFn::logical_not) return "!" + a;
  return fmt::format("math_{}({})", name_of(o.fn), a);
}

std::string Emitter::binary(const Binary& o, const std::string& a, const std::string& b) const {
  bool real = is_float(p_.type(o.a).dtype);
  auto infix = [&](const char* symbol) { return fmt::format("{} {} {}", a, symbol, b); };
  auto call = [&] { return fmt::format("math_{}({}, {})", name_of(o.fn), a, b); };
  switch (o.fn) {
    case BinaryFn::add:
      return infix("+");
    case BinaryFn::sub:
      return infix("-");
    case BinaryFn::mul:
      return infix("*");
    case BinaryFn::div:
      return real ? infix("/") : call();
    case BinaryFn::rescale:
      break;
    case BinaryFn::mod:
    case BinaryFn::max:
    case BinaryFn::min:
      return call();
    case BinaryFn::lt:
      return infix("<");
    case BinaryFn::le:
      return infix("<=");
    case BinaryFn::eq:
      return infix("==");
    case BinaryFn::ne:
      return infix("!=");
    case BinaryFn::logical_and:
      return infix("&&");
    case BinaryFn::logical_or:
      return infix("||");
  }
  throw InternalError::format("codegen: no C operator for binary {}", static_cast<int>(o.fn));
}

/// Whether an index is below a bound, or up to it: 64-bit arithmetic once, and a comparison of constants for
/// each register.
std::string Emitter::below(const Index& index, BinaryFn fn, const std::string& bound,
                           const Layout& layout) const {
  return fmt::format("({}) < steps_{}({}, {} + ({}))", register_coordinate(layout, index.axis, "r"),
                     fn == BinaryFn::lt ? "below" : "up_to", bound, name(index.start),
                     thread_coordinate(layout, index.axis));
}

/// Assigns an expression over r to every register of the result, or to the scalar.
void Emitter::pointwise(const Inst& inst, const std::string& expression) {
  ValueId id = inst.result();
  std::string result = declare(id);
  if (!is_tile(id)) return line("const {} {} = {};", c_type(p_.type(id).dtype), result, expression);
  open_registers(registers(id));
  line("{}[r] = {};", result, expression);
  close();
}

/// Neighbouring floats become one register of two 16-bit elements at once.
void Emitter::emit_cast(const Inst& inst, const Cast& o) {
  ValueId id = inst.result();
  const Type& type = p_.type(id);
  bool pairs = is_tile(id) && p_.type(o.a).dtype == f32 && is_float(type.dtype) && size_of(type.dtype) == 2 &&
               registers(id) % 2 == 0;
  if (!pairs)
    return pointwise(inst, fmt::format("convert<{}>({})", c_type(type.dtype), element(o.a, type.layout)));
  std::string result = declare(id);
  open_registers(registers(id), 2);
  line("convert_pair(&{}[r], {}, {});", result, element(o.a, type.layout),
       element(o.a, type.layout, "(r + 1)"));
  close();
}

void Emitter::emit_slice(const Inst& inst, const Slice& o) {
  int first = o.index * p_.axis(o.to).extent;
  pointwise(inst, fmt::format("{}[{}]", name(o.a),
                              sliced_register(p_.type(o.a).layout, p_.type(inst.result()).layout, o.of, o.to,
                                              first)));
}

/// Whether C++ itself makes an index of a ticket, which is unsigned: beside one, around an operator.
bool Emitter::beside_index(const Op& op) const {
  const Binary* o = std::get_if<Binary>(&op);
  if (o == nullptr || tickets_.contains(o->a) == tickets_.contains(o->b)) return false;
  return o->fn != BinaryFn::div && o->fn != BinaryFn::mod && o->fn != BinaryFn::max && o->fn != BinaryFn::min;
}

void Emitter::emit_value(const Inst& inst) {
  ValueId id = inst.result();
  const Type& type = p_.type(id);
  auto at = [&](ValueId operand) {
    const std::string text = element(operand, type.layout);
    return tickets_.contains(operand) && !beside_index(inst.op) ? fmt::format("int64({})", text) : text;
  };
  // One operation on the floats that 16-bit operands are, rounded twice, is rounded right: floats have twice
  // the digits and two more.
  auto wide = [&](ValueId operand) {
    return is_16_bit(operand) ? fmt::format("widened({})", at(operand)) : at(operand);
  };
  auto rounded = [&](const std::string& value) {
    return is_16_bit(id) ? fmt::format("convert<{}>({})", c_type(type.dtype), value) : value;
  };
  if (const Constant* constant = std::get_if<Constant>(&inst.op)) {
    std::string text = literal(type.dtype, constant->value);
    if (is_tile(id)) return pointwise(inst, text);
    names_[id] = text.front() == '-' ? "(" + text + ")" : text;
    return;
  }
  if (const Index* index = std::get_if<Index>(&inst.op)) {
    indices_[id] = *index;
    return pointwise(
        inst, fmt::format("{} + ({}) + ({})", name(index->start), thread_coordinate(type.layout, index->axis),
                          register_coordinate(type.layout, index->axis, "r")));
  }
  if (const End* end = std::get_if<End>(&inst.op))
    return pointwise(inst, fmt::format("{} + {}", name(end->start), p_.axis(end->axis).extent));
  if (const Scalar* scalar = std::get_if<Scalar>(&inst.op)) {
    numbers_.insert(id);
    return pointwise(inst, "p.scalar_" + p_.scalars.at(index_of(scalar->scalar)).name);
  }
  if (const Size* size = std::get_if<Size>(&inst.op))
    return pointwise(inst, "p.size_" + p_.dim(size->dim).name);
  if (std::holds_alternative<BlockIndex>(inst.op)) return pointwise(inst, "block_index()");
  if (std::holds_alternative<BlockCount>(inst.op)) return pointwise(inst, "block_count()");
  auto of_cluster = [&](const char* what) {
    pointwise(inst, fmt::format("cluster_{}<{}>()", what, p_.launch.cluster.blocks));
  };
  if (std::holds_alternative<ClusterIndex>(inst.op)) return of_cluster("index");
  if (std::holds_alternative<ClusterCount>(inst.op)) return of_cluster("count");
  if (std::holds_alternative<ClusterRank>(inst.op)) return of_cluster("rank");
  if (const Broadcast* o = std::get_if<Broadcast>(&inst.op)) return pointwise(inst, at(o->a));
  if (const Unary* o = std::get_if<Unary>(&inst.op)) return pointwise(inst, rounded(unary(*o, wide(o->a))));
  if (const Binary* o = std::get_if<Binary>(&inst.op)) {
    if (o->fn == BinaryFn::rescale) return emit_rescale(inst, *o);
    auto index = indices_.find(o->a);
    bool bounded = index != indices_.end() && (o->fn == BinaryFn::lt || o->fn == BinaryFn::le);
    if (!bounded) return pointwise(inst, rounded(binary(*o, wide(o->a), wide(o->b))));
    const std::string bound = numbers_.contains(o->b) ? fmt::format("as_bound({})", at(o->b)) : at(o->b);
    return pointwise(inst, below(index->second, o->fn, bound, type.layout));
  }
  if (const Fma* o = std::get_if<Fma>(&inst.op))
    return pointwise(inst, fmt::format("math_fma({}, {}, {})", at(o->a), at(o->b), at(o->c)));
  if (const Select* o = std::get_if<Select>(&inst.op)) {
    return pointwise(inst, fmt::format("{} ? {} : {}", at(o->condition), at(o->a), at(o->b)));
  }
  throw InternalError::format("codegen: '{}' has a value of an operation that emit_value does not know",
                              p_.name);
}

}  // namespace tessera::codegen
