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
  bool transposed = false;  ///< the free axis is contiguous
  int width = 0;            ///< bytes of a line of an atom
  int atom = 0;             ///< bytes
  int warps = 1;            ///< along the free axis
  int blocks = 1;           ///< of 16 lanes of the free axis, of each warp
  std::string address;      ///< of this lane's line in the first matrices

  /// Of a block of a step. What these add to it are whole atoms, lines by the swizzle's pattern, and inside a
  /// line bits that the lane's and the warp's parts have not: those are combined by xor, as the swizzle is.
  std::string at(const char* step, const char* block) const {
    const std::string free = warps == 1 ? block : fmt::format("{} * {}", block, warps);
    const std::string down = transposed ? step : free, across = transposed ? free : step;
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

void Emitter::read_rows(const WarpOperand& a, const char* step) {
  text_ += "#pragma unroll\n";
  line("for (int i = 0; i < {}; ++i) read_words<4, {}>(left[{} % 2] + 4 * i, {});", a.blocks, a.transposed,
       step, a.at(step, "i"));
}

/// Of each step the rows are read at once, the columns by blocks: each while the block before is multiplied,
/// so that few registers hold them.
void Emitter::emit_mma(const Inst& inst, const DotShared& o) {
  const ValueId id = inst.result();
  const Layout& layout = p_.type(id).layout;
  const std::string result = declare(id);
  assign(result, id, name(o.accumulator));
  const bool from_slot = o.a.value == ValueId::none;
  const WarpOperand b = warp_operand(o.b, o.axis, layout, false);
  const WarpOperand a = from_slot ? warp_operand(o.a.slot, o.axis, layout, true) : WarpOperand{};
  const int of_rows = 8 * b.blocks, rows = registers(id) / of_rows,
            steps = p_.axis(o.axis).extent / kWarpStep;
  const std::string type = c_type(p_.type(o.b.channel).dtype);
  open("");
  if (from_slot) line("const unsigned a = {};", a.address);
  line("const unsigned b = {};", b.address);
  line("unsigned {}right[2][4];", from_slot ? fmt::format("left[2][{}], ", 4 * rows) : "");
  if (from_slot) read_rows(a, "0");
  line("read_words<4, {}>(right[0], b);", b.transposed);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int k = 0; k < {}; ++k)", steps));
  line("const int next_k = k + 1;");
  if (from_slot) {
    open(fmt::format("if (next_k < {})", steps));
    read_rows(a, "next_k");
    close();
  }
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int block = 0; block < {}; ++block)", b.blocks));
  line("const int part = k * {} + block, next_block = block + 1;", b.blocks);
  open(fmt::format("if (next_block < {})", b.blocks));
  line("read_words<4, {}>(right[(part + 1) % 2], {});", b.transposed, b.at("k", "next_block"));
  --depth_;
  open(fmt::format("}} else if (next_k < {})", steps));
  line("read_words<4, {}>(right[(part + 1) % 2], {});", b.transposed, b.at("next_k", "0"));
  close();
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", rows));
  if (from_slot) {
    line("const unsigned* rows = left[k % 2] + 4 * i;");
  } else {
    line("const {}* from = {} + i * {} + k * 8;", type, name(o.a.value), steps * 8);
    line(
        "const unsigned rows[4] = {{word_of(from), word_of(from + 2), word_of(from + 4), word_of(from + "
        "6)}};");
  }
  line("multiply<{}>({} + i * {} + block * 8, rows, right[part % 2]);", type, result, of_rows);
  line("multiply<{}>({} + i * {} + block * 8 + 4, rows, right[part % 2] + 2);", type, result, of_rows);
  close();
  close();
  close();
  close();
}

}  // namespace tessera::codegen
