#include "tile_core/codegen/registers.h"
#include "tile_core/codegen/warp_operand.h"
#include "tile_core/ir/warp_layout.h"

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

void Emitter::read_blocks(const WarpOperand& o, const std::string& words, const char* step) {
  text_ += "#pragma unroll\n";
  line("for (int i = 0; i < {}; ++i) {}({}[{} % 2] + 4 * i, {});", o.blocks, o.read, words, step,
       o.at(step, "i"));
}

/// Makes what was read of f32 what the tensor cores take.
void Emitter::round_operand(Precision precision, const char* words, const char* rests, int count) {
  if (precision == Precision::tf32) line("round_words<{}>({});", count, words);
  if (precision == Precision::tf32x3) line("split_words<{}>({}, {});", count, words, rests);
}

/// Adds the products of 16 rows, which the pointer `rows` has, and 16 columns to a block of the result.
void Emitter::multiply_block(const DotShared& o, const std::string& sums, const std::string& columns,
                             bool pairs) {
  const bool sixteen = o.precision == Precision::ieee;
  const std::string function = sixteen ? fmt::format("multiply<{}>", c_type(p_.type(o.b.channel).dtype))
                                       : fmt::format("multiply_{}<{}>", name_of(o.precision), pairs);
  for (const auto& [column, word] : {std::pair("", ""), std::pair(" + 4", " + 2")}) {
    if (o.precision == Precision::tf32x3) {
      line("{}({}{}, rows, left_rests + 4 * i, {}{}, right_rests{});", function, sums, column, columns, word,
           word);
    } else {
      line("{}({}{}, rows, {}{});", function, sums, column, columns, word);
    }
  }
}

/// Of each step the rows are read at once, the columns by blocks: each while the block before is multiplied,
/// so that few registers hold them. Rows in registers are an accumulator's: where they are f32, and where an
/// operand is transposed, lanes hold pairs of the contracted axis.
void Emitter::emit_mma(const Inst& inst, const DotShared& o) {
  const ValueId id = inst.result();
  if (trailing_.contains(id)) return multiply_all_but_last(inst);
  const Layout& layout = p_.type(id).layout;
  const std::string result = declare(id);
  assign(result, id, name(o.accumulator));
  const bool from_slot = o.a.value == ValueId::none, f32s = o.precision != Precision::ieee;
  const bool pairs = f32s && (!from_slot || is_transposed(o.a.slot, o.axis) || is_transposed(o.b, o.axis));
  const WarpOperand b = warp_operand(o.b, o.axis, layout, false, pairs);
  const WarpOperand a = from_slot ? warp_operand(o.a.slot, o.axis, layout, true, pairs) : WarpOperand{};
  const int lanes = kStepBytes / b.size, of_rows = 8 * b.blocks, rows = registers(id) / of_rows,
            steps = p_.axis(o.axis).extent / lanes;
  open("");
  if (from_slot) line("const unsigned a = {};", a.address);
  line("const unsigned b = {};", b.address);
  line("unsigned {}right[2][4];", from_slot || f32s ? fmt::format("left[2][{}], ", 4 * rows) : "");
  if (o.precision == Precision::tf32x3) line("unsigned left_rests[{}], right_rests[4];", 4 * rows);
  if (from_slot) read_blocks(a, "left", "0");
  line("{}(right[0], b);", b.read);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int k = 0; k < {}; ++k)", steps));
  line("const int next_k = k + 1;");
  if (from_slot) {
    open(fmt::format("if (next_k < {})", steps));
    read_blocks(a, "left", "next_k");
    close();
  } else if (f32s) {
    text_ += "#pragma unroll\n";
    line("for (int i = 0; i < {}; ++i) take_rows(left[k % 2] + 4 * i, {} + i * {} + k * {});", rows,
         name(o.a.value), steps * lanes / 2, lanes / 2);
  }
  round_operand(o.precision, "left[k % 2]", "left_rests", 4 * rows);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int block = 0; block < {}; ++block)", b.blocks));
  line("const int part = k * {} + block, next_block = block + 1;", b.blocks);
  open(fmt::format("if (next_block < {})", b.blocks));
  line("{}(right[(part + 1) % 2], {});", b.read, b.at("k", "next_block"));
  --depth_;
  open(fmt::format("}} else if (next_k < {})", steps));
  line("{}(right[(part + 1) % 2], {});", b.read, b.at("next_k", "0"));
  close();
  round_operand(o.precision, "right[part % 2]", "right_rests", 4);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", rows));
  if (from_slot || f32s) {
    line("const unsigned* rows = left[k % 2] + 4 * i;");
  } else {
    line("const {}* from = {} + i * {} + k * 8;", c_type(p_.type(o.b.channel).dtype), name(o.a.value),
         steps * 8);
    line(
        "const unsigned rows[4] = {{word_of(from), word_of(from + 2), word_of(from + 4), word_of(from + "
        "6)}};");
  }
  multiply_block(o, fmt::format("{} + i * {} + block * 8", result, of_rows), "right[part % 2]", pairs);
  close();
  close();
  close();
  close();
}

}  // namespace tessera::codegen
