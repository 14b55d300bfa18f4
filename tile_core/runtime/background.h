#pragma once
#include <functional>

namespace tessera::background {

/// Runs `job` in one of a few threads that nothing waits for. It must not throw. Throws std::system_error
/// where there is no thread and none can be started: the job is not run then.
void submit(std::function<void()> job);

}  // namespace tessera::background
