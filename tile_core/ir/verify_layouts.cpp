#include <map>

#include "tile_core/base/match.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"
#include "tile_core/ir/warp_layout.h"
#include "tile_core/ir/warpgroup_layout.h"

namespace tessera {
namespace {

/// Whether the steps along an axis reach each coordinate once: sorted by stride, each continues where the
/// last ended.
bool reaches_each_once(const Layout& layout, AxisId axis, int extent) {
  std::map<int, int> counts;  // by stride
  for (const Repeat& r : layout.repeats()) {
    if (r.axis == axis && !counts.try_emplace(r.stride, r.count).second) return false;
  }
  int reached = 1;
  for (auto [stride, count] : counts) {
    if (stride != reached) return false;
    reached *= count;
  }
  return reached == extent;
}

class LayoutRules {
 public:
  LayoutRules(const Program& program, const Inst& inst, int warps)
      : p_(program), inst_(inst), warps_(warps) {}

  void run() {
    for_each_definition(inst_, [this](ValueId id) { well_formed(id); });
    if (is_pointwise(inst_.op)) for_each_operand(inst_.op, [this](ValueId id) { held_by_same_threads(id); });
    match(
        inst_.op, [&](const Slice& o) { slice(o); }, [&](const Dot& o) { same_registers(o.accumulator); },
        [&](const DotShared& o) { dot_shared(o); }, [&](const IssueDot& o) { issue_dot(o); },
        [&](const Reduce& o) { reduce(o); }, [&](const ReduceWarp& o) { reduce_warp(o); },
        [&](const Store& o) { store(o); }, [&](const auto&) {});
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }
  std::string text(ValueId id) const {
    return fmt::format("{}: {}", name_of(p_, id), to_text(p_, p_.type(id)));
  }

  void well_formed(ValueId id) const {
    const Type& type = p_.type(id);
    if (type.space != Space::registers) {
      if (!type.layout.empty()) fail("a layout is of registers, but got " + text(id));
      return;
    }
    for (AxisId axis : type.axes) {
      if (!reaches_each_once(type.layout, axis, p_.axis(axis).extent)) {
        fail(fmt::format("the layout does not hold each lane of axis '{}' once: {}", p_.axis(axis).name,
                         text(id)));
      }
    }
    for (const Repeat& r : type.layout.repeats()) {
      bool foreign = r.axis == AxisId::none ? r.place == Place::reg : !type.has(r.axis);
      if (foreign) fail("the layout has an axis that the tile has not: " + text(id));
    }
    int lanes = type.layout.count(Place::lane);
    int warps = type.layout.count(Place::warp);
    if (lanes != kLanes || warps != warps_) {
      fail(fmt::format("the layout is of {} lanes and {} warps, but there are {} and {}: {}", lanes, warps,
                       kLanes, warps_, text(id)));
    }
  }

  /// Every thread has to hold the elements of the operand that its elements of the result are made of.
  void held_by_same_threads(ValueId operand) const {
    for (AxisId axis : p_.type(operand).axes) same_thread_digits(operand, axis, Place::warp);
    for (AxisId axis : p_.type(operand).axes) same_thread_digits(operand, axis, Place::lane);
    same_register_digits(inst_.result(), operand);
  }

  /// The registers of a tile over some of another's axes have to follow those of the other.
  void same_register_digits(ValueId whole, ValueId part) const {
    auto registers = [](const Layout& layout) {
      std::vector<Repeat> digits = layout.repeats();
      std::erase_if(digits, [](const Repeat& r) { return r.place != Place::reg; });
      return digits;
    };
    Layout wanted = p_.type(whole).layout.restrict_to(p_.type(part).axes);
    if (registers(wanted) == registers(p_.type(part).layout)) return;
    fail(fmt::format("registers count in other orders: {} and {}", text(whole), text(part)));
  }

  void same_thread_digits(ValueId operand, AxisId axis, Place place) const {
    const Layout& from = p_.type(operand).layout;
    const Layout& to = p_.type(inst_.result()).layout;
    int count = place == Place::lane ? kLanes : warps_;
    for (int i = 0; i < count; ++i) {
      if (from.coordinate(place, i, axis) == to.coordinate(place, i, axis)) continue;
      fail(fmt::format("other threads hold axis '{}' of the operand {}", p_.axis(axis).name, text(operand)));
    }
  }

  /// A dot updates its accumulator in place.
  void same_registers(ValueId accumulator) const {
    if (accumulator == ValueId::none || p_.type(accumulator).layout == p_.type(inst_.result()).layout) return;
    fail("the accumulator has another layout: " + text(accumulator));
  }

  void slice(const Slice& o) const {
    Layout wanted = p_.type(o.a).layout.slice(o.of, o.to, p_.axis(o.to).extent);
    if (wanted.empty()) {
      fail(fmt::format("slices of axis '{}' are held by different threads: {}", p_.axis(o.of).name,
                       text(o.a)));
    }
    has_layout(inst_.result(), wanted);
  }

  void has_layout(ValueId id, const Layout& wanted) const {
    if (p_.type(id).layout == wanted) return;
    fail(fmt::format("the layout has to be {}, but got {}", to_text(p_, wanted), text(id)));
  }

  AxisId columns_of(const Slot& b) const {
    const Type& result = p_.type(inst_.result());
    bool first = b.part.to == result.axes[0] || p_.type(b.channel).has(result.axes[0]);
    return result.axes[first ? 0 : 1];
  }

  /// Of a dot on the tensor cores each warp has whole steps of rows and columns.
  void dot_shared(const DotShared& o) const {
    same_registers(o.accumulator);
    if (!o.mma) return;
    const Type& result = p_.type(inst_.result());
    const AxisId columns = columns_of(o.b), rows = result.axes[result.axes[0] == columns ? 1 : 0];
    const WarpGrid grid{result.layout.count(Place::warp, rows), result.layout.count(Place::warp, columns)};
    int m = p_.axis(rows).extent, n = p_.axis(columns).extent, k = p_.axis(o.axis).extent;
    if (m % (kWarpStep * grid.rows) != 0 || n % (kWarpStep * grid.columns) != 0 || k % kWarpStep != 0) {
      fail(fmt::format("{} x {} x {} is no multiple of {} for each of {} x {} warps", m, n, k, kWarpStep,
                       grid.rows, grid.columns));
    }
    has_layout(inst_.result(), warp_layout(p_, rows, columns, grid));
    if (o.a.value != ValueId::none) has_layout(o.a.value, warp_layout(p_, rows, o.axis, {warps_, 1}));
  }

  /// One warpgroup; its instruction takes 64 rows, 16 of the contracted axis, and columns by eights.
  void issue_dot(const IssueDot& o) const {
    if (warps_ != kWarpgroup)
      fail(fmt::format("a dot is issued by {} warps, but here are {}", kWarpgroup, warps_));
    const Type& result = p_.type(inst_.result());
    const AxisId columns = columns_of(o.b), rows = result.axes[result.axes[0] == columns ? 1 : 0];
    int m = p_.axis(rows).extent, n = p_.axis(columns).extent, k = p_.axis(o.axis).extent;
    if (m % 64 != 0 || n % 8 != 0 || n > 256 || k % 16 != 0) {
      fail(fmt::format("{} x {} x {} is no multiple of an issued dot's 64 x 8 x 16 with at most 256 columns",
                       m, n, k));
    }
    has_layout(inst_.result(), warpgroup_layout(p_, rows, columns));
    same_registers(o.accumulator);
    if (o.a.value != ValueId::none) has_layout(o.a.value, warpgroup_layout(p_, rows, o.axis));
  }

  void reduce(const Reduce& o) const {
    for (AxisId axis : p_.type(inst_.result()).axes) {
      same_thread_digits(o.a, axis, Place::warp);
      same_thread_digits(o.a, axis, Place::lane);
    }
    same_register_digits(o.a, inst_.result());
    if (p_.stage >= Stage::device && p_.type(o.a).layout.count(Place::warp, o.axis) > 1) {
      fail(fmt::format("axis '{}' is spread over warps, which reduce_warp is for", p_.axis(o.axis).name));
    }
  }

  void reduce_warp(const ReduceWarp& o) const {
    for (AxisId axis : p_.type(inst_.result()).axes) {
      if (axis == o.warps) continue;
      same_thread_digits(o.a, axis, Place::warp);
      same_thread_digits(o.a, axis, Place::lane);
    }
    same_register_digits(o.a, inst_.result());
    int warps = p_.type(o.a).layout.count(Place::warp, o.axis);
    if (warps != p_.axis(o.warps).extent) {
      fail(fmt::format("axis '{}' is spread over {} warps, but '{}' has {} lanes", p_.axis(o.axis).name,
                       warps, p_.axis(o.warps).name, p_.axis(o.warps).extent));
    }
    if (p_.type(inst_.result()).layout.count(Place::warp, o.warps) != warps) {
      fail(fmt::format("axis '{}' has to be spread over the same warps", p_.axis(o.warps).name));
    }
  }

  /// The value's layout says which thread writes, so it needs the axes of the subscripts.
  void store(const Store& o) const {
    for (const Subscript& s : o.subscripts) {
      if (s.axis == AxisId::none || p_.type(o.value).has(s.axis)) continue;
      fail(fmt::format("the value has no axis '{}': {}", p_.axis(s.axis).name, text(o.value)));
    }
  }

  const Program& p_;
  const Inst& inst_;
  int warps_;  // that run it
};

}  // namespace

void verify_layouts(const Program& program, const Inst& inst, int warps) {
  LayoutRules(program, inst, warps).run();
}

}  // namespace tessera
