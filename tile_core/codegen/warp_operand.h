#pragma once
#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/warp_layout.h"

namespace tessera::codegen {

inline constexpr int kStepBytes =
    2 * kWarpStep;  ///< of the contracted axis: 16 lanes of 16 bits, or 8 of f32

/// What each warp reads of an operand in a swizzled slot for a step of the contracted axis: of 16 lanes of
/// the free axis 32 bytes, as matrices of 8 lines of 16 bytes, four at a time.
struct Emitter::WarpOperand {
  std::string name;         ///< of the address
  bool transposed = false;  ///< the free axis is contiguous
  int width = 0;            ///< bytes of a line of an atom
  int atom = 0;             ///< bytes
  int size = 0;             ///< bytes of an element
  int warps = 1;            ///< along the free axis
  int blocks = 1;           ///< of 16 lanes of the free axis, of each warp
  std::string read;         ///< the function
  std::string address;      ///< of this lane's first element, or of its line in the first matrices

  /// Of a block of a step. Inside a line these add bits that the lane's and the warp's parts have not, by xor
  /// as the swizzle does; the rest are whole atoms and lines by the swizzle's pattern. They come last:
  /// constants then, which the instruction adds.
  std::string at(const std::string& step, const std::string& block) const {
    const std::string free = warps == 1 ? block : fmt::format("{} * {}", block, warps);
    const std::string down = transposed ? step : free, across = transposed ? free : step;
    const int lines = transposed ? kStepBytes / size : kWarpStep,
              bytes = transposed ? kWarpStep * size : kStepBytes;
    return fmt::format("({} ^ ({} * {} % {})) + ({} * {} + {} * {} / {} * {})", name, across, bytes, width,
                       down, lines * width, across, bytes, width, atom);
  }
};

/// A dot of mma.sync. Its operands are read into arrays: the rows of two steps, the columns of some blocks.
struct Emitter::WarpDot {
  const DotShared& op;
  bool has_slot = false;  ///< the rows are in a slot, else in registers
  bool is_f32 = false;
  std::string rows, columns;  ///< the arrays
  bool pairs = false;
  WarpOperand a, b;
  int blocks = 0;  ///< of 16 rows, of each warp
  int steps = 0;
  int ahead = 1;  ///< blocks of columns that are read before they are multiplied
};

}  // namespace tessera::codegen
