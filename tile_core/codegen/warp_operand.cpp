#include "tile_core/codegen/warp_operand.h"

#include "tile_core/codegen/registers.h"

namespace tessera::codegen {
namespace {

/// The layout as the warps have it, whatever lanes and registers add.
Layout of_warps(const Layout& layout) {
  std::vector<Repeat> repeats = layout.repeats();
  std::erase_if(repeats, [](const Repeat& r) { return r.place != Place::warp; });
  return Layout(std::move(repeats));
}

}  // namespace

bool Emitter::is_transposed(const Slot& slot, AxisId contracted) const {
  return seen_as(slot, channel(slot.channel).order.back()) != contracted;
}

/// Lane 8 i + j has the address of line j of matrix i. Of the first operand the four matrices are 8 rows, the
/// next 8 rows, and the same further along the contracted axis; of the second 8 columns, the same further,
/// and the next 8 columns. Of pairs each lane has its own address.
Emitter::WarpOperand Emitter::warp_operand(const Slot& slot, AxisId contracted, const Layout& accumulator,
                                           bool first, bool pairs) const {
  const Channel& c = channel(slot.channel);
  const AxisId fastest = seen_as(slot, c.order.back()), slowest = seen_as(slot, c.order.front());
  const AxisId free = fastest == contracted ? slowest : fastest;
  WarpOperand o{.name = first ? "a" : "b",
                .transposed = is_transposed(slot, contracted),
                .width = c.swizzle,
                .atom = atom_bytes(slot.channel),
                .size = size_of(p_.type(slot.channel).dtype),
                .warps = accumulator.count(Place::warp, free)};
  o.blocks = p_.axis(free).extent / (kWarpStep * o.warps);
  const std::string warp = thread_coordinate(of_warps(accumulator), free);
  const bool neighbours = first != o.transposed;  // of 16 lines, whose second chunk comes last
  std::string line_of_lane = neighbours ? "lane % 16" : "lane % 8 + lane / 16 * 8";
  std::string inside = neighbours ? "lane / 16 * 16" : "lane / 8 % 2 * 16";
  o.read = fmt::format("read_words<4, {}>", o.transposed);
  if (pairs) {
    line_of_lane = o.transposed ? "lane % 4 * 2" : "lane / 4";
    inside = o.transposed ? "lane / 4 * 4" : "lane % 4 * 8";
    o.read = fmt::format("read_pairs<{}, {}, {}>", o.width, o.transposed, first);
  }
  const std::string down = o.transposed ? line_of_lane : fmt::format("{} + {}", warp, line_of_lane);
  o.address = fmt::format("base + {}", slot_offset(slot));
  if (o.transposed && o.warps > 1) {
    o.address += fmt::format(" + ({}) * {} / {} * {}", warp, o.size, o.width, o.atom);
    inside += fmt::format(" + ({}) * {} % {}", warp, o.size, o.width);
  }
  o.address += fmt::format(" + swizzled<{}>(({}) * {} + {})", o.width, down, o.width, inside);
  return o;
}

}  // namespace tessera::codegen
