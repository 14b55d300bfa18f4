#pragma once
#include <cstdint>
#include <vector>

#include "tile_core/base/tensor_view.h"
#include "tile_core/interpreter/observer.h"
#include "tile_core/ir/program.h"

namespace tessera {

/// When asynchronous copies and dots happen: as late as their waits allow, or when they are issued. A right
/// program does not care.
enum class Landing : std::uint8_t { last, first };

/// Which instance of a role goes on where several can: the first in the program's order (producers, mostly),
/// the last, or any. A right program does not care.
enum class Order : std::uint8_t { first, last, random };

struct InterpretOptions {
  Landing landing = Landing::last;
  Order order = Order::first;
  unsigned seed = 1;        ///< of the random order
  std::int64_t blocks = 2;  ///< of a persistent program, at most
  Observer observer = {};   ///< empty: nobody looks on
};

/// Runs a verified program of any stage on the CPU, block after block; those that draw their tiles side by
/// side. This is what the operations mean: elements are held as doubles and rounded to the dtype after each
/// operation; f32 sums of dots go through fmaf in the axis' order. Outputs that tiles are added to start as
/// 0. Throws UserError where an integer that its dtype, or a double, cannot hold is stored or counts as an
/// index.
///
/// From Stage::synced on shared memory is a machine that knows what has been written, waited for and made
/// visible: a missing wait, barrier or fence throws InternalError that names both instructions. Barriers
/// between roles know phases by their parity alone, as the hardware does; where no role can go on,
/// InternalError says what each waits for.
///
/// `tensors` stand in the order of their declaration, with the sizes that bind the dims; `scalars` too.
/// Throws UserError that names the tensor where they do not fit the declarations, and where an output that
/// starts as 0 overlaps another tensor.
void interpret(const Program& program, const std::vector<TensorView>& tensors,
               const std::vector<double>& scalars, const InterpretOptions& options = {});

}  // namespace tessera
