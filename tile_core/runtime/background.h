#pragma once
#include <functional>

namespace tessera::background {

/// Runs `job` in one of a few threads that nothing waits for. The job must not throw; std::system_error where
/// there is no thread and none can be started.
void submit(std::function<void()> job);

}  // namespace tessera::background
