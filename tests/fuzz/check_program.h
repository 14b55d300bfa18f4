#pragma once
#include "tests/fuzz/shrink.h"
#include "tile_core/passes/pipeline.h"

namespace tessera::fuzz {

/// lower(), or what stands for it in a test of the fuzzer.
using Lowering = std::function<Program(const Program& program, const PassContext& context,
                                       const std::function<void(const Pass&, const Program&)>& after)>;

/// How much is done for each program.
struct ProgramDepth {
  int emulated = 0;  ///< of 100 programs, whose text g++ builds and the CPU runs: about a second each
  int compiled = 0;  ///< of 100 programs, which NVRTC compiles
  Lowering lowering = lower;
};

/// One random program under one random schedule, on two calls: every pass keeps the interpreter's values,
/// bitwise where passes.h says so; verify() holds; what is printed parses back to the same; no name of the
/// author changes the CUDA text, except where it stands; the emulated text gives the same; the cubin neither
/// spills nor serialises. Counts what was reached.
std::optional<Failure> check_program(Choices& choices, const ProgramDepth& depth, Counts& counts);

}  // namespace tessera::fuzz
