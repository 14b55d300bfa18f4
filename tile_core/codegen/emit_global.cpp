#include <algorithm>

#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/target/access.h"

namespace tessera::codegen {
namespace {

void add_term(std::string& sum, const std::string& term) {
  if (term != "0") sum += sum.empty() ? term : " + " + term;
}

void add_condition(std::string& all, const std::string& condition) {
  all += all.empty() ? condition : " && " + condition;
}

std::string or_else(const std::string& text, const char* fallback) {
  return text.empty() ? fallback : text;
}

}  // namespace

std::string Emitter::stride(TensorId tensor, std::size_t dim) const {
  if (facts_.tensors.at(index_of(tensor)).contiguous_dim == static_cast<int>(dim)) return "";
  return fmt::format(" * p.stride_{}_{}", p_.tensor(tensor).name, dim);
}

Emitter::Address Emitter::address(TensorId tensor, const std::vector<Subscript>& subscripts,
                                  const Layout& layout) const {
  Address a;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const Subscript& s = subscripts[i];
    std::string size = "p.size_" + p_.dim(p_.tensor(tensor).dims[i]).name;
    std::string start = name(s.value);
    if (s.axis == AxisId::none) {
      add_term(a.base, fmt::format("{}{}", start, stride(tensor, i)));
      add_condition(a.inside, fmt::format("{0} >= 0 && {0} < {1}", start, size));
      continue;
    }
    std::string thread = thread_coordinate(layout, s.axis);
    std::string step = register_coordinate(layout, s.axis, "r");
    add_term(a.base, fmt::format("({} + ({})){}", start, thread, stride(tensor, i)));
    if (step != "0") add_term(a.step, fmt::format("int64({}){}", step, stride(tensor, i)));
    std::string left = fmt::format("left_{}", p_.axis(s.axis).name);
    a.setup.push_back(fmt::format("const int {} = steps_below({}, {} + ({}));", left, size, start, thread));
    add_condition(a.inside, fmt::format("{} < {}", step, left));
    if (!start_facts(p_, s.axis).negative) continue;
    std::string before = fmt::format("before_{}", p_.axis(s.axis).name);
    a.setup.push_back(fmt::format("const int {} = steps_below(0, {} + ({}));", before, start, thread));
    add_condition(a.inside, fmt::format("{} >= {}", step, before));
  }
  return {or_else(a.base, "0"), or_else(a.step, "0"), or_else(a.inside, "true"), std::move(a.setup)};
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

void Emitter::emit_store(const Store& o) {
  const Layout& layout = p_.type(o.value).layout;
  Address a = address(o.tensor, o.subscripts, layout);
  int vector = vector_of(o.tensor, o.subscripts, layout);
  std::string once = is_tile(o.value) ? first_replica(layout) : "thread == 0";
  open("");
  line("{}* to = p.data_{} + ({});", c_type(p_.type(o.value).dtype), p_.tensor(o.tensor).name, a.base);
  for (const std::string& setup : a.setup) append(setup);
  std::string source = name(o.value);
  if (!is_tile(o.value)) line("const {} value = {};", c_type(p_.type(o.value).dtype), source);
  open_registers(layout.count(Place::reg), vector);
  line("store_global<{}>(to + ({}), {}, {}{});", vector, a.step,
       is_tile(o.value) ? fmt::format("&{}[r]", source) : "&value", a.inside,
       once.empty() ? "" : " && " + once);
  close();
  close();
}

/// The block's threads share the tile: thread after thread along the channel's fastest axis, `vector`
/// elements each.
void Emitter::emit_copy(const CopyIn& o) {
  const Channel& to = channel(o.to.channel);
  std::vector<int> strides = channel_strides(o.to.channel);
  int count = 1;
  for (AxisId axis : to.order) count *= p_.axis(seen_as(o.to, axis)).extent;
  count /= o.vector;

  open("");
  line("{}* to = {};", c_type(p_.type(o.to.channel).dtype), slot_pointer(o.to));
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int first = 0; first < {}; first += {})", count, threads()));
  line("const int i = first + thread;");
  if (count % threads() != 0) line("if (i >= {}) break;", count);
  std::string target, rows = "0";
  int divisor = 1;
  for (std::size_t i = to.order.size(); i-- > 0;) {
    const AxisInfo& axis = p_.axis(seen_as(o.to, to.order[i]));
    bool fastest = i + 1 == to.order.size();
    int step = fastest ? o.vector : 1;
    line("const int x_{} = i / {} % {} * {};", axis.name, divisor, axis.extent / step, step);
    add_term(fastest ? target : rows, fmt::format("x_{} * {}", axis.name, strides[i]));
    divisor *= axis.extent / step;
  }
  target = to.swizzle > 0
               ? swizzled_place(o.to.channel, rows, "x_" + p_.axis(seen_as(o.to, to.order.back())).name)
               : target + rows.substr(1);
  std::string source, inside;
  for (std::size_t i = 0; i < o.load.subscripts.size(); ++i) {
    const Subscript& s = o.load.subscripts[i];
    std::string index = s.axis == AxisId::none
                            ? name(s.value)
                            : fmt::format("({} + x_{})", name(s.value), p_.axis(s.axis).name);
    add_term(source, index + stride(o.load.tensor, i));
    if (s.axis == AxisId::none || start_facts(p_, s.axis).negative) add_condition(inside, index + " >= 0");
    add_condition(inside,
                  fmt::format("{} < p.size_{}", index, p_.dim(p_.tensor(o.load.tensor).dims[i]).name));
  }
  line("const bool inside = {};", inside);
  line("{}<{}>(to + {}, p.data_{} + (inside ? {} : 0), inside);",
       o.kind == CopyKind::async ? "copy_async" : "copy", o.vector, target, p_.tensor(o.load.tensor).name,
       source);
  close();
  close();
}

}  // namespace tessera::codegen
