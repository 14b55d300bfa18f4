#pragma once
#include "tests/fuzz/choices.h"
#include "tests/support/same_result.h"
#include "tile_core/ir/program.h"

namespace tessera::fuzz {

/// A legal program of the language: one of the forms below with random axes, tiles, dtypes, expressions and
/// outputs. `wide`: its tiles suit wgmma, so that on sm_90a it has roles unless a random part forbids it.
struct RandomProgram {
  Program program;
  bool wide = false;
};
RandomProgram random_program(Choices& choices);

/// Sizes for its dims, ragged ones too, 0 and 1; multiples of 8 where `aligned`, as the copy engine needs
/// them. Its scalars, and what its inputs are drawn from.
test::Call random_call(Choices& choices, const Program& program, bool aligned);

}  // namespace tessera::fuzz
