#include <algorithm>
#include <numeric>

#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/ir/dot_order.h"

namespace tessera::codegen {
namespace {

std::string fma_function(Precision precision) {
  return precision == Precision::ieee ? "math_fma" : fmt::format("fma_{}", name_of(precision));
}

}  // namespace

/// What each thread reads of one operand for `step` values of the contracted axis.
struct Emitter::Fragment {
  std::string name;
  std::string pointer;
  DType dtype = f32;
  Layout layout;              ///< of the operand's free axes, as the accumulator has them
  std::vector<AxisId> order;  ///< of the channel
  std::vector<int> strides;
  AxisId contracted{};
  bool along_contracted = false;  ///< the contracted axis stands side by side in memory
  int vector = 1;                 ///< elements read at once
};

Emitter::Fragment Emitter::fragment(const Slot& slot, AxisId contracted, const Layout& accumulator,
                                    const char* name) const {
  const Channel& c = channel(slot.channel);
  if (c.swizzle > 0) fail("threads multiply a slot that is swizzled");
  const Type& type = p_.type(slot.channel);
  Fragment f{.name = name,
             .dtype = type.dtype,
             .order = c.order,
             .strides = channel_strides(slot.channel),
             .contracted = contracted};
  std::vector<AxisId> axes = type.axes;
  std::erase(axes, contracted);
  f.layout = accumulator.restrict_to(axes);
  f.pointer = fmt::format("{} + {}", slot_pointer(slot), shared_base(slot, f.layout));
  int widest = 16 / size_of(type.dtype);
  f.along_contracted = c.order.back() == contracted;
  f.vector = f.along_contracted ? std::gcd(widest, p_.axis(contracted).extent)
                                : run_length(f.layout, c.order.back(), widest);
  return f;
}

/// Reads name[register * step + q] for q < step values of the contracted axis from k on.
void Emitter::fetch(const Fragment& f, int step) {
  int count = f.layout.count(Place::reg);
  std::string row = "0";
  int along = 1;
  for (std::size_t i = 0; i < f.order.size(); ++i) {
    if (f.order[i] == f.contracted) along = f.strides[i];
    std::string coordinate =
        f.order[i] == f.contracted ? "0" : register_coordinate(f.layout, f.order[i], "r");
    if (coordinate != "0") row += fmt::format(" + ({}) * {}", coordinate, f.strides[i]);
  }
  line("float {}[{}];", f.name, count * step);
  int vector = f.along_contracted ? std::min(f.vector, step) : f.vector;
  open_registers(count, f.along_contracted ? 1 : vector);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int q = 0; q < {}; q += {})", step, f.along_contracted ? vector : 1));
  line("{} part[{}];", c_type(f.dtype), vector);
  line("read_shared<{}>(part, from_{} + ({}) + (k + q) * {});", vector, f.name, row, along);
  text_ += "#pragma unroll\n";
  std::string to =
      f.along_contracted ? fmt::format("r * {} + q + j", step) : fmt::format("(r + j) * {} + q", step);
  line("for (int j = 0; j < {}; ++j) {}[{}] = convert<float>(part[j]);", vector, f.name, to);
  close();
  close();
}

void Emitter::emit_dot(const Inst& inst, const DotShared& o) {
  ValueId id = inst.result();
  const Layout& layout = p_.type(id).layout;
  std::string result = declare(id);
  if (!is_tile(id)) line("float {}[1];", result);
  open_registers(layout.count(Place::reg));
  line("{}[r] = {};", result, element(o.accumulator, layout));
  close();
  Fragment a = fragment(o.a.slot, o.axis, layout, "a");
  Fragment b = fragment(o.b, o.axis, layout, "b");
  int step = std::max(a.along_contracted ? a.vector : 1, b.along_contracted ? b.vector : 1);
  const int extent = p_.axis(o.axis).extent, summands = dot_summands(a.dtype, b.dtype, o.precision, extent);
  const int count = layout.count(Place::reg);
  const std::string product =
      fmt::format("a[({}) * {} + q], b[({}) * {} + q]", register_index(layout, a.layout, "r"), step,
                  register_index(layout, b.layout, "r"), step);
  open("");
  for (const Fragment* f : {&a, &b}) line("const {}* from_{} = {};", c_type(f->dtype), f->name, f->pointer);
  const auto add_products = [&](const std::string& sum, const std::string& lanes) {
    text_ += "#pragma unroll 1\n";
    open(fmt::format("for ({}; k += {})", lanes, step));
    fetch(a, step);
    fetch(b, step);
    text_ += "#pragma unroll\n";
    open(fmt::format("for (int q = 0; q < {}; ++q)", step));
    open_registers(count);
    line("{0}[r] = {2}({1}, {0}[r]);", sum, product, fma_function(o.precision));
    close();
    close();
    close();
  };
  if (summands == 0) {
    add_products(result, fmt::format("int k = 0; k < {}", extent));
  } else {
    text_ += "#pragma unroll 1\n";
    open(fmt::format("for (int first = 0; first < {}; first += {})", extent, summands));
    line("float sum[{}] = {{}};", count);
    add_products("sum", fmt::format("int k = first; k < first + {} && k < {}", summands, extent));
    open_registers(count);
    line("{0}[r] = math_add({0}[r], sum[r]);", result);
    close();
    close();
  }
  close();
  if (!is_tile(id)) names_[id] = result + "[0]";
}

}  // namespace tessera::codegen
