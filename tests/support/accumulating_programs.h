#pragma once
#include "tile_core/ir/program.h"

/// Programs that add tiles to their outputs.
namespace tessera::test {

/// out[place[i], n] += x[i, n] / 2: places met more than once, and outside of the output.
Program scattered_rows();

/// Sums of x over its rows and its columns, of x + 1 over both, split over the grid; of y in a loop, an
/// addition for each iteration; and the number of blocks.
Program split_sums();

/// out = a b^T, the contracted dim split over the grid.
struct SplitTiles {
  int m = 0, n = 0, k = 0, part = 0;
};
Program split_dot(const SplitTiles& tiles);

/// out = sum_z (a[z] b[z]^T + bias), a block for each z; with `sums` also its sums over n, those of bias, and
/// the number of blocks: tiles that all warpgroups of a block have in part, or each has whole.
Program batch_dot(bool sums);

}  // namespace tessera::test
