#pragma once
#include <optional>

#include "tile_core/ir/layout.h"

namespace tessera::codegen {

/// A tile in the registers of a warpgroup as wgmma's accumulators and register operands are (PTX ISA, "wgmma:
/// Register Fragments"). Registers stand in blocks of 64 rows, inside by 8 columns: two columns of one row,
/// two of the row 8 below.
struct Fragments {
  AxisId rows{};
  AxisId columns{};
  int row_count = 0;     ///< a multiple of 64
  int column_count = 0;  ///< a multiple of 8

  static constexpr int kRows = 64;
  int blocks() const { return row_count / kRows; }
  int registers_of_block() const { return column_count / 2; }
};

/// None where the layout is another one.
std::optional<Fragments> fragments_of(const Layout& layout);

}  // namespace tessera::codegen
