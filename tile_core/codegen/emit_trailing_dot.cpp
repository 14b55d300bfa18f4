#include "tile_core/codegen/warp_operand.h"
#include "tile_core/ir/early_reads.h"
#include "tile_core/ir/trailing_dot.h"

// A dot whose last step is multiplied after the wait for the next iteration's slots, while the first step of
// those is read: the tensor cores have work across the barrier. Both operands of a step are in registers
// before the step before is multiplied.
namespace tessera::codegen {
/// Its operands are in the slots of this iteration, or of a later one.
struct Emitter::TrailingDot {
  ValueId result;
  const DotShared& op;
  WarpOperand a, b;
  std::string rows, columns;  ///< arrays of two steps
  int steps = 0;
};

Emitter::TrailingDot Emitter::trailing(const Inst& inst, int later) const {
  const auto& o = std::get<DotShared>(inst.op);
  Slot a = o.a.slot, b = o.b;
  a.offset += later, b.offset += later;
  const ValueId result = inst.result();
  const Layout& layout = p_.type(result).layout;
  TrailingDot dot{.result = result,
                  .op = o,
                  .a = warp_operand(a, o.axis, layout, true, false),
                  .b = warp_operand(b, o.axis, layout, false, false),
                  .rows = fmt::format("rows_of_v{}", index_of(result)),
                  .columns = fmt::format("columns_of_v{}", index_of(result))};
  dot.steps = p_.axis(o.axis).extent * dot.b.size / kStepBytes;
  return dot;
}

const Inst* Emitter::crosses_barrier(const Loop& o) const {
  constexpr int kMostRegisters = 192;       // of 255: addresses and copies need the rest
  constexpr int kRegistersOfBlock = 2 * 4;  // four words of each of two steps
  const Inst* inst = trailing_dot(o);
  if (inst == nullptr || !waits_at_end(o.body)) return nullptr;
  if (std::get<DotShared>(inst->op).precision != Precision::ieee) return nullptr;
  if (!copies_spare_registers(p_, o.body)) return nullptr;
  const TrailingDot dot = trailing(*inst, 0);
  const int held = registers(dot.result) + kRegistersOfBlock * (dot.a.blocks + dot.b.blocks);
  return held <= kMostRegisters && dot.steps % 2 == 0 ? inst : nullptr;
}

void Emitter::declare_addresses(const TrailingDot& dot) {
  line("const unsigned a = {};", dot.a.address);
  line("const unsigned b = {};", dot.b.address);
}

void Emitter::read_step(const TrailingDot& dot, const char* step) {
  read_blocks(dot.a, dot.rows, step);
  read_blocks(dot.b, dot.columns, step);
}

void Emitter::multiply_step(const TrailingDot& dot, const std::string& step) {
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int block = 0; block < {}; ++block)", dot.b.blocks));
  text_ += "#pragma unroll\n";
  open(fmt::format("for (int i = 0; i < {}; ++i)", dot.a.blocks));
  line("const unsigned* rows = {}[{} % 2] + 4 * i;", dot.rows, step);
  multiply_block(
      dot.op, fmt::format("{} + i * {} + block * 8", name(dot.result), registers(dot.result) / dot.a.blocks),
      fmt::format("{}[{} % 2] + 4 * block", dot.columns, step), /*pairs=*/false);
  close();
  close();
}

void Emitter::read_first_step(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 0);
  trailing_.insert(dot.result);
  line("unsigned {}[2][{}], {}[2][{}];", dot.rows, 4 * dot.a.blocks, dot.columns, 4 * dot.b.blocks);
  open("");
  declare_addresses(dot);
  read_step(dot, "0");
  close();
}

void Emitter::multiply_all_but_last(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 0);
  const std::string result = declare(dot.result);
  assign(result, dot.result, name(dot.op.accumulator));
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

void Emitter::multiply_last_step(const Inst& inst) {
  const TrailingDot dot = trailing(inst, 1);
  open("");
  declare_addresses(dot);
  read_step(dot, "0");
  multiply_step(dot, std::to_string(dot.steps - 1));
  close();
}

}  // namespace tessera::codegen
