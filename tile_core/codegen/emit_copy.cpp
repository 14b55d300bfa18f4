#include <algorithm>

#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/codegen/terms.h"
#include "tile_core/ir/channel.h"
#include "tile_core/target/access.h"

namespace tessera::codegen {
namespace {

/// Whether elements exist, or how many of those that one access may begin with.
std::string existing(const CopyIn& o, const std::string& inside, const std::string& left) {
  return o.kind == CopyKind::realigned ? fmt::format("{} ? {} : 0", inside, left) : inside;
}

bool is_power_of_two(int n) {
  return (n & (n - 1)) == 0;
}

}  // namespace

/// The block's threads share the tile: thread after thread along the channel's fastest axis, `vector`
/// elements each.
void Emitter::emit_copy(const CopyIn& o) {
  const Layout layout = copied_rows(o);
  layout.empty() ? copy_by_elements(o) : copy_by_rows(o, layout);
}

/// Copies through registers take some each: not all of them stand side by side.
void Emitter::unroll_copies(const CopyIn& o, int count) {
  constexpr int kAtOnce = 8;
  text_ += o.kind != CopyKind::async && count > kAtOnce ? fmt::format("#pragma unroll {}\n", kAtOnce)
                                                        : "#pragma unroll\n";
}

/// The layout of a tile of whole rows whose accesses the threads take turns with, as if it came to registers;
/// empty where they do not end with a row.
Layout Emitter::copied_rows(const CopyIn& o) const {
  const std::vector<AxisId>& order = channel(o.to.channel).order;
  if (order.size() != 2) return {};
  const AxisId row = seen_as(o.to, order[0]), along = seen_as(o.to, order[1]);
  const int accesses = p_.axis(along).extent / o.vector, rows = p_.axis(row).extent;
  if (accesses > threads() || !is_power_of_two(accesses) || !is_power_of_two(threads())) return {};
  const int at_once = threads() / accesses;  // rows
  if (rows % at_once != 0 && (at_once % rows != 0 || !is_power_of_two(rows))) return {};
  const int of_lanes = std::min(accesses, kLanes), lane_rows = std::min(kLanes / of_lanes, rows);
  const int of_warps = accesses / of_lanes, warp_rows = std::min(at_once, rows) / lane_rows;
  return Layout({{Place::reg, along, o.vector, 1},
                 {Place::reg, row, std::max(rows / at_once, 1), at_once},
                 {Place::lane, along, of_lanes, o.vector},
                 {Place::lane, row, lane_rows, 1},
                 {Place::lane, AxisId::none, kLanes / of_lanes / lane_rows, 0},
                 {Place::warp, along, of_warps, of_lanes * o.vector},
                 {Place::warp, row, warp_rows, lane_rows},
                 {Place::warp, AxisId::none, threads() / kLanes / of_warps / warp_rows, 0}});
}

/// Of a swizzled slot whose lines step by whole patterns, the step adds to where the thread begins. The
/// source goes down by the same step each time: as many products would take registers in a loop.
void Emitter::copy_by_rows(const CopyIn& o, const Layout& layout) {
  const Channel& to = channel(o.to.channel);
  const AxisId row = seen_as(o.to, to.order[0]), along = seen_as(o.to, to.order[1]);
  const int at_once = p_.axis(row).extent / layout.count(Place::reg, row);
  std::string base = shared_base(o.to, layout), step = shared_step(o.to, layout);
  if (to.swizzle > 0 && (at_once == p_.axis(row).extent || at_once % kPatternRows == 0)) {
    base = swizzled_place(o.to.channel, coordinate_sum(o.to, layout, true, true),
                          thread_coordinate(layout, along));
    step = coordinate_sum(o.to, layout, false, true);
  }
  const Address a = address(o.load.tensor, o.load.subscripts, layout, Bound::of_block_first);
  const std::string type = c_type(p_.type(o.to.channel).dtype), once = first_replica(layout);
  open(once.empty() ? "" : fmt::format("if ({})", once));
  line("{}* to = {} + {};", type, slot_pointer(o.to), base);
  const auto carried = sources_.find(&o);
  line("const {}* from = {};", type,
       carried != sources_.end() ? carried->second.pointer
                                 : fmt::format("p.data_{} + ({})", p_.tensor(o.load.tensor).name, a.base));
  for (const std::string& setup : a.setup) append(setup);
  if (at_once < p_.axis(row).extent)
    line("const int64 down = int64({}){};", at_once, row_stride(o.load, row));
  unroll_copies(o, layout.count(Place::reg) / o.vector);
  open(fmt::format("for (int r = 0; r < {}; r += {})", layout.count(Place::reg), o.vector));
  const std::string left =
      fmt::format("left_{} - ({})", p_.axis(along).name, register_coordinate(layout, along, "r"));
  line("{}<{}>(to + ({}), from, {});", name_of(o.kind), o.vector, step, existing(o, a.inside, left));
  if (at_once < p_.axis(row).extent) line("from += down;");
  close();
  if (carried != sources_.end()) line("{} += {};", carried->second.pointer, carried->second.step);
  close();
}

/// " * p.stride_key_2", by which a tile's rows lie apart.
std::string Emitter::row_stride(const Load& load, AxisId row) const {
  auto found = std::find_if(load.subscripts.begin(), load.subscripts.end(),
                            [&](const Subscript& s) { return s.axis == row; });
  return stride(load.tensor, static_cast<std::size_t>(found - load.subscripts.begin()));
}

void Emitter::copy_by_elements(const CopyIn& o) {
  const Channel& to = channel(o.to.channel);
  std::vector<int> strides = channel_strides(o.to.channel);
  int count = 1;
  for (AxisId axis : to.order) count *= p_.axis(seen_as(o.to, axis)).extent;
  count /= o.vector;

  open("");
  line("{}* to = {};", c_type(p_.type(o.to.channel).dtype), slot_pointer(o.to));
  unroll_copies(o, count / threads());
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
  std::string source, inside, left;
  for (std::size_t i = 0; i < o.load.subscripts.size(); ++i) {
    const Subscript& s = o.load.subscripts[i];
    std::string index = s.axis == AxisId::none
                            ? name(s.value)
                            : fmt::format("({} + x_{})", name(s.value), p_.axis(s.axis).name);
    add_term(source, index + stride(o.load.tensor, i));
    if (s.axis == AxisId::none || start_facts(p_, s.axis).negative) add_condition(inside, index + " >= 0");
    const std::string size = "p.size_" + p_.dim(p_.tensor(o.load.tensor).dims[i]).name;
    add_condition(inside, fmt::format("{} < {}", index, size));
    if (s.axis == seen_as(o.to, to.order.back())) left = fmt::format("steps_below({}, {})", size, index);
  }
  line("const bool inside = {};", inside);
  line("{}<{}>(to + {}, p.data_{} + (inside ? {} : 0), {});", name_of(o.kind), o.vector, target,
       p_.tensor(o.load.tensor).name, source, existing(o, "inside", left));
  close();
  close();
}

}  // namespace tessera::codegen
