#include <algorithm>

#include "tile_core/codegen/warp_operand.h"
#include "tile_core/ir/trailing_dot.h"

// A dot whose last step is multiplied after the wait for the next iteration's slots, while the first step of
// those is read: the tensor cores have work across the barrier. Both operands of a step are in registers
// before the step before is multiplied.
namespace tessera::codegen {
namespace {

/// Copies of less than 16 bytes are many: they take the registers that the operands of two steps would.
bool copies_whole_words(const Program& program, const Block& body) {
  constexpr int kWord = 16;
  return std::none_of(body.insts.begin(), body.insts.end(), [&](const Inst& inst) {
    const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
    return copy != nullptr && copy->vector * size_of(program.type(copy->to.channel).dtype) < kWord;
  });
}

}  // namespace

/// The operands' addresses, of the slots `later` iterations from now.
struct Emitter::TrailingDot {
  ValueId result;
  std::string rows, columns;  ///< arrays of two steps
  WarpOperand a, b;
  std::string dtype;
  int steps = 0;
  int row_registers = 0;  ///< of 16 rows of the result

  int row_blocks() const { return a.blocks; }
};

Emitter::TrailingDot Emitter::trailing(const Inst& inst, int later) const {
  const auto& o = std::get<DotShared>(inst.op);
  Slot a = o.a.slot, b = o.b;
  a.offset += later, b.offset += later;
  const ValueId result = inst.result();
  const Layout& layout = p_.type(result).layout;
  TrailingDot dot{.result = result,
                  .rows = fmt::format("rows_of_v{}", index_of(result)),
                  .columns = fmt::format("columns_of_v{}", index_of(result)),
                  .a = warp_operand(a, o.axis, layout, true, false),
                  .b = warp_operand(b, o.axis, layout, false, false),
                  .dtype = c_type(p_.type(o.b.channel).dtype)};
  dot.steps = p_.axis(o.axis).extent * dot.b.size / kStepBytes;
  dot.row_registers = registers(result) / dot.row_blocks();
  return dot;
}

const Inst* Emitter::emitted_trailing(const Loop& o) const {
  constexpr int kMostRegisters = 192;  // of 255: addresses and copies need the rest
  const Inst* inst = trailing_dot(o);
  if (inst == nullptr || !std::holds_alternative<Barrier>(o.body.insts.back().op)) return nullptr;
  if (std::get<DotShared>(inst->op).precision != Precision::ieee) return nullptr;
  if (!copies_whole_words(p_, o.body)) return nullptr;
  const TrailingDot dot = trailing(*inst, 0);
  const bool fits = registers(dot.result) + 8 * (dot.row_blocks() + dot.b.blocks) <= kMostRegisters;
  return fits && dot.steps % 2 == 0 ? inst : nullptr;
}

void Emitter::read_step(const TrailingDot& dot, const char* step) {
  for (const auto& [operand, words] : {std::pair(&dot.a, &dot.rows), std::pair(&dot.b, &dot.columns)}) {
    text_ += "#pragma unroll\n";
    line("for (int i = 0; i < {}; ++i) {}({}[{} % 2] + 4 * i, {});", operand->blocks, operand->read, *words,
         step, operand->at(step, "i"));
  }
}

void Emitter::multiply_step(const TrailingDot& dot, const char* step) {
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int block = 0; block < {}; ++block)", dot.b.blocks));
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", dot.row_blocks()));
  for (const auto& [column, word] : {std::pair("", ""), std::pair(" + 4", " + 2")}) {
    line("multiply<{}>({} + i * {} + block * 8{}, {}[{} % 2] + 4 * i, {}[{} % 2] + 4 * block{});", dot.dtype,
         name(dot.result), dot.row_registers, column, dot.rows, step, dot.columns, step, word);
  }
  close();
  close();
}

void Emitter::declare_addresses(const TrailingDot& dot) {
  line("const unsigned a = {};", dot.a.address);
  line("const unsigned b = {};", dot.b.address);
}

void Emitter::begin_trailing(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 0);
  trailing_.insert(dot.result);
  line("unsigned {}[2][{}], {}[2][{}];", dot.rows, 4 * dot.row_blocks(), dot.columns, 4 * dot.b.blocks);
  open("");
  declare_addresses(dot);
  read_step(dot, "0");
  close();
}

void Emitter::emit_trailing(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 0);
  const std::string result = declare(dot.result);
  assign(result, dot.result, name(std::get<DotShared>(inst.op).accumulator));
  open("");
  declare_addresses(dot);
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int k = 0; k < {}; ++k)", dot.steps - 1));
  line("const int next_k = k + 1;");
  read_step(dot, "next_k");
  multiply_step(dot, "k");
  close();
  close();
}

void Emitter::end_trailing(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 1);
  open("");
  declare_addresses(dot);
  read_step(dot, "0");
  multiply_step(dot, std::to_string(dot.steps - 1).c_str());
  close();
}

}  // namespace tessera::codegen
