#include "tests/fuzz/random_program.h"

#include <algorithm>
#include <limits>

#include "tests/fuzz/author.h"

namespace tessera::fuzz {
namespace {

/// What the axes of a dim say of its size.
struct Extents {
  int tile = 1;
  int most = std::numeric_limits<int>::max();  ///< where one tile covers the dim
};

Extents extents_of(const Program& program, DimId dim) {
  Extents extents;
  for (const AxisInfo& axis : program.axes) {
    if (axis.dim != dim) continue;
    extents.tile = std::max(extents.tile, axis.extent);
    if (axis.kind == AxisKind::all) extents.most = std::min(extents.most, axis.extent);
  }
  return extents;
}

/// How far rows of 16 bytes of 16-bit elements are apart.
constexpr int kAligned = 8;

int size_of_dim(Choices& c, const Extents& extents, bool aligned) {
  const int tile = extents.tile;
  // Never the contiguous dim of an operand.
  if (tile == 1) return std::min(c.chance(5) ? 0 : c.of({1, 2, 3, 5}), extents.most);
  const int step = aligned ? kAligned : 1;
  int size = c.of({step, tile, tile + step, tile - step, 2 * tile, 2 * tile + 3 * step, tile / 2});
  if (c.chance(aligned ? 2 : 8)) size = c.of({1, 0});
  size = std::clamp(size, 0, extents.most);
  return aligned ? (size + step - 1) / step * step : size;
}

}  // namespace

RandomProgram random_program(Choices& choices) {
  const bool wide = choices.chance(50);
  Author author(choices, wide);
  if (wide) {
    choices.chance(60) ? author.chain() : author.products();
  } else {
    switch (choices.below(6)) {
      case 0:
        author.elementwise();
        break;
      case 1:
        author.recurrences();
        break;
      case 2:
        author.nested();
        break;
      case 3:
        author.chain();
        break;
      default:
        author.products();
    }
  }
  return {author.finish(), wide};
}

test::Call random_call(Choices& choices, const Program& program, bool aligned) {
  test::Call call;
  for (std::size_t i = 0; i < program.dims.size(); ++i) {
    const Extents extents = extents_of(program, static_cast<DimId>(i));
    call.dims[program.dims[i].name] = size_of_dim(choices, extents, aligned);
  }
  for (const ScalarDecl& scalar : program.scalars)
    call.scalars[scalar.name] = scalar.dtype == f32 ? choices.of({0.5, 1.0, 0.0, -0.75, 0.1})
                                                    : choices.of({0.0, 3.0, -5.0, 70.0, 1000.0});
  call.seed = 1 + static_cast<unsigned>(choices.below(1000));
  call.alternating = choices.chance(20);
  if (call.alternating) call.mean = 1;
  return call;
}

}  // namespace tessera::fuzz
