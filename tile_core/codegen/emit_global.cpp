#include <algorithm>

#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/codegen/terms.h"
#include "tile_core/target/access.h"

namespace tessera::codegen {
namespace {

std::string or_else(const std::string& text, const char* fallback) {
  return text.empty() ? fallback : text;
}

}  // namespace

std::string Emitter::stride(TensorId tensor, std::size_t dim) const {
  if (facts_.tensors.at(index_of(tensor)).contiguous_dim == static_cast<int>(dim)) return "";
  return fmt::format(" * p.stride_{}_{}", p_.tensor(tensor).name, dim);
}

/// With each subscript's first index as `starts` says.
std::string Emitter::base_of(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout,
                             const std::vector<std::string>& starts) const {
  std::string base;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const AxisId axis = subscripts[i].axis;
    const std::string index = axis == AxisId::none
                                  ? starts[i]
                                  : fmt::format("({} + ({}))", starts[i], thread_coordinate(layout, axis));
    add_term(base, index + stride(tensor, i));
  }
  return or_else(base, "0");
}

Emitter::Address Emitter::address(TensorId tensor, const std::vector<Subscript>& subscripts,
                                  const Layout& layout, Bound bound) const {
  Address a;
  std::vector<std::string> starts;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const Subscript& s = subscripts[i];
    std::string size = "p.size_" + p_.dim(p_.tensor(tensor).dims[i]).name;
    const std::string start = starts.emplace_back(name(s.value));
    if (s.axis == AxisId::none) {
      add_condition(a.inside, fmt::format("{0} >= 0 && {0} < {1}", start, size));
      continue;
    }
    std::string thread = thread_coordinate(layout, s.axis);
    std::string step = register_coordinate(layout, s.axis, "r");
    if (step != "0") add_term(a.step, fmt::format("int64({}){}", step, stride(tensor, i)));
    std::string left = fmt::format("left_{}", p_.axis(s.axis).name);
    a.setup.push_back(
        bound == Bound::of_thread
            ? fmt::format("const int {} = steps_below({}, {} + ({}));", left, size, start, thread)
            : fmt::format("const int {} = steps_below({}, {}) - ({});", left, size, start, thread));
    add_condition(a.inside, fmt::format("{} < {}", step, left));
    if (!start_facts(p_, s.axis).negative) continue;
    std::string before = fmt::format("before_{}", p_.axis(s.axis).name);
    a.setup.push_back(fmt::format("const int {} = steps_below(0, {} + ({}));", before, start, thread));
    add_condition(a.inside, fmt::format("{} >= {}", step, before));
  }
  return {base_of(tensor, subscripts, layout, starts), or_else(a.step, "0"), or_else(a.inside, "true"),
          std::move(a.setup)};
}

int Emitter::vector_of(TensorId tensor, const std::vector<Subscript>& subscripts,
                       const Layout& layout) const {
  Access access = widest_access(p_, facts_, schedule_, tensor, subscripts);
  return access.axis == AxisId::none ? 1 : run_length(layout, access.axis, access.vector);
}

void Emitter::emit_load(const Inst& inst, const Load& o) {
  ValueId id = inst.result();
  const Layout& layout = p_.type(id).layout;
  std::string result = declare(id);
  if (!is_tile(id)) line("{} {};", c_type(p_.type(id).dtype), result);
  Address a = address(o.tensor, o.subscripts, layout);
  int vector = vector_of(o.tensor, o.subscripts, layout);
  open("");
  line("const {}* from = p.data_{} + ({});", c_type(p_.type(id).dtype), p_.tensor(o.tensor).name, a.base);
  for (const std::string& setup : a.setup) append(setup);
  open_registers(layout.count(Place::reg), vector);
  line("load_global<{}>({}, from + ({}), {});", vector,
       is_tile(id) ? fmt::format("&{}[r]", result) : "&" + result, a.step, a.inside);
  close();
  close();
}

/// Where it makes accesses wider.
std::optional<Exchange> Emitter::exchange_before(const Store& o) const {
  const Access access = widest_access(p_, facts_, schedule_, o.tensor, o.subscripts);
  if (!is_tile(o.value) || !is_16_bit(o.value) || o.accumulate || access.axis == AxisId::none) return {};
  std::optional<Exchange> exchange = exchange_of(p_.type(o.value).layout, access.axis);
  const bool widens = exchange && vector_of(o.tensor, o.subscripts, exchange->layout) == 2 * kPair;
  return widens ? exchange : std::nullopt;
}

void Emitter::emit_store(const Store& o) {
  const std::optional<Exchange> exchange = exchange_before(o);
  const Layout& layout = exchange ? exchange->layout : p_.type(o.value).layout;
  Address a = address(o.tensor, o.subscripts, layout);
  int vector = vector_of(o.tensor, o.subscripts, layout);
  std::string once = is_tile(o.value) ? first_replica(layout) : "thread == 0";
  open("");
  line("{}* to = p.data_{} + ({});", c_type(p_.type(o.value).dtype), p_.tensor(o.tensor).name, a.base);
  for (const std::string& setup : a.setup) append(setup);
  const std::string source = name(o.value), type = c_type(p_.type(o.value).dtype);
  if (!is_tile(o.value)) line("const {} value = {};", type, source);
  open_registers(layout.count(Place::reg), vector);
  std::string elements = is_tile(o.value) ? fmt::format("&{}[r]", source) : "&value";
  if (exchange) {
    line("const int pair = {};", first_pair(*exchange, "r"));
    line("{} four[{}];", type, 2 * kPair);
    line("exchange_pairs(four, &{}[pair], &{}[pair + {}]);", source, source, exchange->block);
    elements = "four";
  }
  line("{}_global<{}>(to + ({}), {}, {}{});", o.accumulate ? "accumulate" : "store", vector, a.step, elements,
       a.inside, once.empty() ? "" : " && " + once);
  close();
  close();
}

}  // namespace tessera::codegen
