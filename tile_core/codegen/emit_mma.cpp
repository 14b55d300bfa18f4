#include <algorithm>

#include "tile_core/codegen/warp_operand.h"

namespace tessera::codegen {
void Emitter::read_blocks(const WarpOperand& o, const std::string& words, const char* step) {
  text_ += "#pragma unroll\n";
  line("for (int i = 0; i < {}; ++i) {}({}[{} % 2] + 4 * i, {});", o.blocks, o.read, words, step,
       o.at(step, "i"));
}

/// Makes what was read of f32 what the tensor cores take.
void Emitter::round_operand(Precision precision, const std::string& words, const char* rests, int count) {
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

Emitter::WarpDot Emitter::warp_dot(const Inst& inst) const {
  const auto& o = std::get<DotShared>(inst.op);
  const std::string result = fmt::format("v{}", index_of(inst.result()));
  const Layout& layout = p_.type(inst.result()).layout;
  WarpDot dot{.op = o,
              .has_slot = o.a.value == ValueId::none,
              .is_f32 = o.precision != Precision::ieee,
              .rows = "rows_" + result,
              .columns = "columns_" + result};
  dot.pairs = dot.is_f32 && (!dot.has_slot || is_transposed(o.a.slot, o.axis) || is_transposed(o.b, o.axis));
  dot.b = warp_operand(o.b, o.axis, layout, false, dot.pairs);
  if (dot.has_slot) dot.a = warp_operand(o.a.slot, o.axis, layout, true, dot.pairs);
  dot.a.name = "at_" + dot.rows, dot.b.name = "at_" + dot.columns;
  dot.blocks = registers(inst.result()) / (8 * dot.b.blocks);
  dot.steps = p_.axis(o.axis).extent * dot.b.size / kStepBytes;
  constexpr int kBesideRows = 2, kAlone = 3;  // of four registers each
  if (!dot.is_f32) dot.ahead = std::min(dot.has_slot ? kBesideRows : kAlone, dot.steps * dot.b.blocks - 1);
  return dot;
}

void Emitter::read_first_rows(const Inst& inst) {
  const WarpDot dot = warp_dot(inst);
  line("const unsigned {} = {};", dot.a.name, dot.a.address);
  line("unsigned {}[2][{}];", dot.rows, 4 * dot.blocks);
  read_blocks(dot.a, dot.rows, "0");
  rows_read_.insert(inst.result());
}

void Emitter::read_first_columns(const Inst& inst) {
  const WarpDot dot = warp_dot(inst);
  line("const unsigned {} = {};", dot.b.name, dot.b.address);
  line("unsigned {}[{}][4];", dot.columns, dot.ahead + 1);
  text_ += "#pragma unroll\n";
  line("for (int part = 0; part < {}; ++part) {}({}[part], {});", dot.ahead, dot.b.read, dot.columns,
       dot.b.at(fmt::format("(part / {})", dot.b.blocks), fmt::format("(part % {})", dot.b.blocks)));
  columns_read_.insert(inst.result());
}

/// The rows of step k, in registers as the tensor cores take them.
void Emitter::prepare_rows(const WarpDot& dot) {
  if (dot.has_slot) {
    line("const int next_k = k + 1;");
    open(fmt::format("if (next_k < {})", dot.steps));
    read_blocks(dot.a, dot.rows, "next_k");
    close();
  } else if (dot.is_f32) {
    const int lanes = kStepBytes / dot.b.size;
    text_ += "#pragma unroll\n";
    line("for (int i = 0; i < {}; ++i) take_rows({}[k % 2] + 4 * i, {} + i * {} + k * {});", dot.blocks,
         dot.rows, name(dot.op.a.value), dot.steps * lanes / 2, lanes / 2);
  }
  round_operand(dot.op.precision, dot.rows + "[k % 2]", "left_rests", 4 * dot.blocks);
}

void Emitter::multiply_part(const WarpDot& dot, const std::string& sums) {
  const std::string columns = fmt::format("{}[part % {}]", dot.columns, dot.ahead + 1);
  round_operand(dot.op.precision, columns, "right_rests", 4);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", dot.blocks));
  if (dot.has_slot || dot.is_f32) {
    line("const unsigned* rows = {}[k % 2] + 4 * i;", dot.rows);
  } else {
    line("const {}* from = {} + i * {} + k * 8;", c_type(p_.type(dot.op.b.channel).dtype),
         name(dot.op.a.value), dot.steps * 8);
    line(
        "const unsigned rows[4] = {{word_of(from), word_of(from + 2), word_of(from + 4), word_of(from + "
        "6)}};");
  }
  multiply_block(dot.op, fmt::format("{} + i * {} + block * 8", sums, 8 * dot.b.blocks), columns, dot.pairs);
  close();
}

/// Of each step the rows are read at once, the columns by blocks: some while the blocks before are
/// multiplied, so that few registers hold them. Rows in registers are an accumulator's: where they are f32,
/// and where an operand is transposed, lanes hold pairs of the contracted axis.
void Emitter::emit_mma(const Inst& inst, const DotShared& o) {
  const ValueId id = inst.result();
  if (trailing_.contains(id)) return multiply_all_but_last(inst);
  const std::string result = declare(id);
  assign(result, id, name(o.accumulator));
  const WarpDot dot = warp_dot(inst);
  const bool scoped = !rows_read_.contains(id) && !columns_read_.contains(id);
  if (scoped) open("");
  if (dot.has_slot && !rows_read_.contains(id)) read_first_rows(inst);
  if (!dot.has_slot && dot.is_f32) line("unsigned {}[2][{}];", dot.rows, 4 * dot.blocks);
  if (o.precision == Precision::tf32x3) line("unsigned left_rests[{}], right_rests[4];", 4 * dot.blocks);
  if (!columns_read_.contains(id)) read_first_columns(inst);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int k = 0; k < {}; ++k)", dot.steps));
  prepare_rows(dot);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int block = 0; block < {}; ++block)", dot.b.blocks));
  line("const int part = k * {} + block, later = part + {};", dot.b.blocks, dot.ahead);
  open(fmt::format("if (later < {})", dot.steps * dot.b.blocks));
  line("{}({}[later % {}], {});", dot.b.read, dot.columns, dot.ahead + 1,
       dot.b.at(fmt::format("(later / {})", dot.b.blocks), fmt::format("(later % {})", dot.b.blocks)));
  close();
  multiply_part(dot, result);
  close();
  close();
  if (scoped) close();
}

}  // namespace tessera::codegen
