#include "tile_core/ir/warpgroup_layout.h"

namespace tessera {

Layout warpgroup_layout(const Program& program, AxisId rows, AxisId columns) {
  constexpr int kRows = 64;  // of one instruction
  constexpr int kColumnStep = 8;
  return Layout({{Place::reg, columns, 2, 1},
                 {Place::reg, rows, 2, 8},
                 {Place::reg, columns, program.axis(columns).extent / kColumnStep, kColumnStep},
                 {Place::reg, rows, program.axis(rows).extent / kRows, kRows},
                 {Place::lane, columns, 4, 2},
                 {Place::lane, rows, 8, 1},
                 {Place::warp, rows, kWarpgroup, 16}});
}

}  // namespace tessera
