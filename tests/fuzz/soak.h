#pragma once
#include <cstdint>

namespace tessera::fuzz {

/// `seconds` of mixed work on the first GPU: 8 threads, each on its own stream, make random calls that are
/// checked as check_call() does, hold memory for a while, and capture graphs that they replay with new data,
/// several at a time; a ninth registers operators, so that kernels are compiled and loaded meanwhile. In ten
/// rounds; after each, nothing may be allocated, and memory in use is printed: in the second half that of the
/// device and of the process may not grow. Returns the number of findings. Throws UserError without a GPU.
int soak(int seconds, std::uint64_t seed);

}  // namespace tessera::fuzz
