#include "tile_core/ir/warp_layout.h"

namespace tessera {

Layout warp_layout(const Program& program, AxisId rows, AxisId columns, WarpGrid grid) {
  const int across = kWarpStep * grid.columns, down = kWarpStep * grid.rows;
  return Layout({{Place::reg, columns, 2, 1},
                 {Place::reg, rows, 2, 8},
                 {Place::reg, columns, 2, 8},
                 {Place::reg, columns, program.axis(columns).extent / across, across},
                 {Place::reg, rows, program.axis(rows).extent / down, down},
                 {Place::lane, columns, 4, 2},
                 {Place::lane, rows, 8, 1},
                 {Place::warp, rows, grid.rows, kWarpStep},
                 {Place::warp, columns, grid.columns, kWarpStep}});
}

}  // namespace tessera
