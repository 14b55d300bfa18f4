#pragma once
#include <vector>

#include "tile_core/base/tensor_view.h"
#include "tile_core/ir/program.h"

namespace tessera {

/// When an asynchronous copy happens: as late as its wait allows, or when it is issued. A right program does
/// not care.
enum class Landing { last, first };

struct InterpretOptions {
  Landing landing = Landing::last;
};

/// Runs a verified program of any stage on the CPU, block after block. This is what the operations mean:
/// elements are held as doubles and rounded to the dtype after each operation; f32 sums of dots go through
/// fmaf in the axis' order. Throws UserError where an integer that its dtype, or a double, cannot hold is
/// stored or counts as an index.
///
/// From Stage::synced on shared memory is a machine that knows what has been written, waited for and made
/// visible: a missing wait or barrier throws InternalError that names both instructions.
///
/// `tensors` stand in the order of their declaration, with the sizes that bind the dims; `scalars` too.
/// Throws UserError that names the tensor where they do not fit the declarations.
void interpret(const Program& program, const std::vector<TensorView>& tensors,
               const std::vector<double>& scalars, const InterpretOptions& options = {});

}  // namespace tessera
