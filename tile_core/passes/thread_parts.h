#pragma once
#include <vector>

#include "tile_core/passes/passes.h"

namespace tessera {

/// What one thread has of one tile: as many statements as the text unrolls for an operation on it.
struct ThreadPart {
  int elements = 0;  ///< in registers
  int copies = 0;    ///< asynchronous ones, into shared memory
  int sums = 0;      ///< registers that one issued dot adds to
};
/// The most of each in a program from Stage::device on.
ThreadPart largest_thread_part(const Program& program);

/// The rules of a schedule that only the layouts tell: those that a program from Stage::device on breaks,
/// with the largest tile of each. NVRTC's time grows faster than what it unrolls: at the bounds it takes some
/// ten seconds, at four times as much minutes. And ptxas takes no dot whose sums do not fit the registers
/// that the number of threads leaves, whatever setmaxnreg gives later.
std::vector<BrokenRule> broken_thread_rules(const Program& program, const PassContext& context);

}  // namespace tessera
