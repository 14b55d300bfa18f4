#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/registers.h"
#include "tile_core/ir/warp_layout.h"

namespace tessera::codegen {
namespace {

constexpr int kStepBytes = 2 * kWarpStep;

/// The layout as the warps have it, whatever lanes and registers add.
Layout of_warps(const Layout& layout) {
  std::vector<Repeat> repeats = layout.repeats();
  std::erase_if(repeats, [](const Repeat& r) { return r.place != Place::warp; });
  return Layout(std::move(repeats));
}

}  // namespace

/// What each warp reads of an operand in a swizzled slot for a step of the contracted axis: matrices of 8 x 8
/// elements, four at a time, 16 lanes of the free axis by 16 of the contracted one.
struct Emitter::WarpOperand {
  const char* name = "";    ///< of the address
  const char* words = "";   ///< of the arrays, of two steps
  bool transposed = false;  ///< the free axis is contiguous
  int width = 0;            ///< bytes of a line of an atom
  int atom = 0;             ///< bytes
  int warps = 1;            ///< along the free axis
  int blocks = 1;           ///< of 16 lanes of the free axis, of each warp
  std::string address;      ///< of this lane's line in the first matrices

  /// Of block i of step k. What these add to it are whole atoms, lines by the
  /// swizzle's pattern, and inside a line bits that the lane's and the warp's parts have not: those are
  /// combined by xor, as the swizzle is.
  std::string at_step() const {
    const std::string free = warps == 1 ? "i" : fmt::format("i * {}", warps);
    const std::string down = transposed ? "k" : free, across = transposed ? free : "k";
    return fmt::format("({} + {} * {} + {} * {} / {} * {}) ^ ({} * {} % {})", name, down, kWarpStep * width,
                       across, kStepBytes, width, atom, across, kStepBytes, width);
  }
};

/// Lane 8 i + j has the address of line j of matrix i. Of the first operand the four matrices are 8 rows, the
/// next 8 rows, and the same further along the contracted axis; of the second 8 columns, the same further,
/// and the next 8 columns.
Emitter::WarpOperand Emitter::warp_operand(const Slot& slot, AxisId contracted, const Layout& accumulator,
                                           bool first) const {
  const Channel& c = channel(slot.channel);
  const AxisId fastest = seen_as(slot, c.order.back()), slowest = seen_as(slot, c.order.front());
  const AxisId free = fastest == contracted ? slowest : fastest;
  WarpOperand o{.name = first ? "a" : "b",
                .words = first ? "left" : "right",
                .transposed = fastest != contracted,
                .width = c.swizzle,
                .atom = atom_bytes(slot.channel),
                .warps = accumulator.count(Place::warp, free)};
  o.blocks = p_.axis(free).extent / (kWarpStep * o.warps);
  const std::string warp = thread_coordinate(of_warps(accumulator), free);
  const bool neighbours = first != o.transposed;  // of 16 lines, whose second chunk comes last
  const std::string line_of_lane = neighbours ? "lane % 16" : "lane % 8 + lane / 16 * 8";
  const std::string chunk = neighbours ? "lane / 16 * 16" : "lane / 8 % 2 * 16";
  const std::string down = o.transposed ? line_of_lane : fmt::format("{} + {}", warp, line_of_lane);
  o.address = fmt::format("base + {}", slot_offset(slot));
  std::string inside = chunk;
  if (o.transposed && o.warps > 1) {
    o.address += fmt::format(" + ({}) * 2 / {} * {}", warp, o.width, o.atom);
    inside += fmt::format(" + ({}) * 2 % {}", warp, o.width);
  }
  o.address += fmt::format(" + swizzled<{}>(({}) * {} + {})", o.width, down, o.width, inside);
  return o;
}

void Emitter::read_step(const WarpOperand& o) {
  text_ += "#pragma unroll\n";
  line("for (int i = 0; i < {}; ++i) read_words<4, {}>({}[k % 2] + 4 * i, {});", o.blocks, o.transposed,
       o.words, o.at_step());
}

/// The matrices of a step are read while those of the step before are multiplied.
void Emitter::emit_mma(const Inst& inst, const DotShared& o) {
  const ValueId id = inst.result();
  const Layout& layout = p_.type(id).layout;
  const std::string result = declare(id);
  assign(result, id, name(o.accumulator));
  const bool from_slot = o.a.value == ValueId::none;
  const WarpOperand b = warp_operand(o.b, o.axis, layout, false);
  const WarpOperand a = from_slot ? warp_operand(o.a.slot, o.axis, layout, true) : WarpOperand{};
  const int of_block = 8 * b.blocks, rows = registers(id) / of_block,
            steps = p_.axis(o.axis).extent / kWarpStep;
  const std::string type = c_type(p_.type(o.b.channel).dtype);
  open("");
  if (from_slot) line("const unsigned a = {};", a.address);
  line("const unsigned b = {};", b.address);
  line("unsigned {}right[2][{}];", from_slot ? fmt::format("left[2][{}], ", 4 * rows) : "", 4 * b.blocks);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int k = 0; k <= {}; ++k)", steps));
  open(fmt::format("if (k < {})", steps));
  if (from_slot) read_step(a);
  read_step(b);
  close();
  line("if (k == 0) continue;");
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", rows));
  if (from_slot) {
    line("const unsigned* rows = left[(k - 1) % 2] + 4 * i;");
  } else {
    line("const {}* part = {} + i * {} + (k - 1) * 8;", type, name(o.a.value), steps * 8);
    line(
        "const unsigned rows[4] = {{word_of(part), word_of(part + 2), word_of(part + 4), word_of(part + "
        "6)}};");
  }
  text_ += "#pragma unroll\n";
  line("for (int j = 0; j < {}; ++j) multiply<{}>({} + i * {} + j * 4, rows, right[(k - 1) % 2] + 2 * j);",
       2 * b.blocks, type, result, of_block);
  close();
  close();
  close();
}

}  // namespace tessera::codegen
