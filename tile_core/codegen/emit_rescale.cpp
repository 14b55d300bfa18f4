#include <algorithm>

#include "tile_core/codegen/emitter.h"

namespace tessera::codegen {
namespace {

/// Into how many parts a thread's rows fall whose registers follow one another, in the tile and in what has
/// one for each of its rows. Parts of a few registers are not worth a branch.
int parts_of_rows(const Layout& tile, const Layout& rows) {
  const auto slowest = [](const Layout& layout) {
    const auto& all = layout.repeats();
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [](const Repeat& repeat) { return repeat.place == Place::reg; });
    return last == all.rend() ? Repeat{} : *last;
  };
  constexpr int kWorthBranch = 32;
  const int parts = slowest(rows).count;
  const bool apart = slowest(tile) == slowest(rows) && tile.count(Place::reg) >= parts * kWorthBranch;
  return apart ? parts : 1;
}

}  // namespace

/// Multiplies only in warps with a factor that is not 1: their votes are branches, one for each part of a
/// thread's rows.
void Emitter::emit_rescale(const Inst& inst, const Binary& o) {
  ValueId id = inst.result();
  const Layout& layout = p_.type(id).layout;
  if (!is_tile(id)) return pointwise(inst, binary({BinaryFn::mul, o.a, o.b}, name(o.a), name(o.b)));
  pointwise(inst, element(o.a, layout));
  const auto early = early_.columns.find(&inst);
  if (early != early_.columns.end() && !trailing_.contains(early->second->result()))
    read_first_columns(*early->second);
  const int parts = is_tile(o.b) ? parts_of_rows(layout, p_.type(o.b).layout) : 1;
  const int factors = is_tile(o.b) ? registers(o.b) / parts : 1, elements = registers(id) / parts;
  for (int part = 0; part < parts; ++part) {
    const auto at = [&](int count) { return part == 0 ? "r" : fmt::format("(r + {})", part * count); };
    const std::string changes = fmt::format("changes{}_{}", index_of(id), part);
    line("bool {} = false;", changes);
    open_registers(factors);
    line("{0} = {0} || {1} != 1.0f;", changes,
         is_tile(o.b) ? fmt::format("{}[{}]", name(o.b), at(factors)) : name(o.b));
    close();
    open(fmt::format("if (any_of_warp({}))", changes));
    open_registers(elements);
    line("{}[{}] *= {};", name(id), at(elements), element(o.b, layout, at(elements)));
    close();
    close();
  }
}

}  // namespace tessera::codegen
