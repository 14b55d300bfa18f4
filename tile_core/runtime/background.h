#pragma once
#include <functional>

namespace tessera::background {

/// Runs `job` in one of a few threads that the first call starts. The end of the process does not wait for
/// jobs that have not begun, and asks a compilation that runs to stop. A job must not throw.
void submit(std::function<void()> job);

}  // namespace tessera::background
