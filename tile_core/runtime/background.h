#pragma once
#include <functional>

namespace tessera::background {

/// Runs `job` in one of a few threads that nothing waits for. It must not throw.
void submit(std::function<void()> job);

}  // namespace tessera::background
