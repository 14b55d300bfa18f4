#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/fragments.h"

namespace tessera::codegen {

/// A slot of rows and columns, either of them contiguous, and a tile that holds them as fragments.
bool Emitter::moves_as_matrices(const Slot& slot, const Type& type) const {
  const Channel& c = channel(slot.channel);
  return c.swizzle > 0 && c.order.size() == 2 && size_of(type.dtype) == 2 &&
         fragments_of(type.layout).has_value();
}

/// Moves matrices of 8 x 8 elements, four of them (16 rows x 16 columns) at a time where the columns allow
/// it: lane 8 i + j has the address of row j of matrix i, of column j where the rows are contiguous. What the
/// registers add to it are whole atoms and multiples of 8 lines, which no swizzle changes, and inside an atom
/// bits that the lane's part has not: these are combined by xor, as the swizzle is.
void Emitter::emit_matrices(const Slot& slot, ValueId tile, bool write) {
  const int width = channel(slot.channel).swizzle;
  const int atom = atom_bytes(slot.channel);
  Fragments f = *fragments_of(p_.type(tile).layout);
  bool transposed = seen_as(slot, channel(slot.channel).order.back()) == f.rows;
  int count = f.column_count % 16 == 0 ? 4 : 2;
  const char* right = count == 4 ? "lane / 16" : "0";

  const int steps = f.column_count / (4 * count);
  std::string step = fmt::format("r / {} % {}", 2 * count, steps);
  std::string blocks = f.blocks() == 1 ? "" : fmt::format(" + r / {}", f.registers_of_block());
  open("");
  if (transposed) {
    line("const int down = warp * 32 + lane / 8 % 2 * 16;");
    line(
        "const unsigned at = base + {} + down / {} * {} + swizzled<{}>(({} * 8 + lane % 8) * {} + down % "
        "{});",
        slot_offset(slot), width, atom, width, right, width, width);
    if (f.blocks() > 1) blocks += fmt::format(" * {}", 2 * Fragments::kRows / width * atom);
    step =
        fmt::format("at{}{}", blocks, steps == 1 ? "" : fmt::format(" + {} * {}", step, 4 * count * width));
  } else {
    line("const unsigned at = base + {} + swizzled<{}>((warp * 16 + lane % 16) * {} + {} * 16);",
         slot_offset(slot), width, width, right);
    int inside = width / (8 * count);  // steps of an atom
    if (f.blocks() > 1) blocks += fmt::format(" * {}", Fragments::kRows * width);
    std::string atoms = steps <= inside ? "" : fmt::format(" + {} / {} * {}", step, inside, atom);
    std::string chunk =
        inside == 1 || steps == 1 ? "" : fmt::format(" ^ {} % {} * {}", step, inside, 8 * count);
    step = fmt::format("(at{}{}){}", blocks, atoms, chunk);
  }
  open_registers(registers(tile), 2 * count);
  if (write) line("write_matrices<{}, {}>({}, &{}[r]);", count, transposed, step, name(tile));
  if (!write) line("read_matrices<{}, {}>(&{}[r], {});", count, transposed, name(tile), step);
  close();
  close();
}

}  // namespace tessera::codegen
