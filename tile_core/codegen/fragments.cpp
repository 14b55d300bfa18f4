#include "tile_core/codegen/fragments.h"

namespace tessera::codegen {

std::optional<Fragments> fragments_of(const Layout& layout) {
  if (layout.empty()) return std::nullopt;
  AxisId columns = layout.repeats().front().axis;
  AxisId rows = AxisId::none;
  for (const Repeat& repeat : layout.repeats()) {
    if (repeat.place == Place::warp) rows = repeat.axis;
  }
  Fragments f{rows, columns, layout.extent(rows), layout.extent(columns)};
  if (rows == AxisId::none || columns == AxisId::none || rows == columns) return std::nullopt;
  Layout expected({{Place::reg, columns, 2, 1},
                   {Place::reg, rows, 2, 8},
                   {Place::reg, columns, f.column_count / 8, 8},
                   {Place::reg, rows, f.row_count / Fragments::kRows, Fragments::kRows},
                   {Place::lane, columns, 4, 2},
                   {Place::lane, rows, 8, 1},
                   {Place::warp, rows, 4, 16}});
  return layout == expected ? std::optional(f) : std::nullopt;
}

}  // namespace tessera::codegen
