#include "tile_core/runtime/running_compilation.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <unistd.h>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  std::set<std::string> archs;  // after whose first compilation a handler was registered
  std::atomic<bool> stopping{false};
  const pid_t process = ::getpid();
};

Shared& shared() {
  static auto* leaked = new Shared;  // used until the very end of the process
  return *leaked;
}

void stop_and_wait() {
  constexpr auto kPatience = std::chrono::seconds(10);
  if (shared().process != ::getpid()) return;  // a fork: the threads that compile are the parent's
  std::unique_lock lock(shared().mutex);
  shared().stopping = true;
  shared().changed.wait_for(lock, kPatience, [] { return shared().count == 0; });
}

}  // namespace

RunningCompilation::RunningCompilation(const std::string& kernel) {
  const std::scoped_lock lock(shared().mutex);
  if (shared().stopping) throw UserError::format("kernel {} is not compiled: the process ends", kernel);
  ++shared().count;
}

RunningCompilation::~RunningCompilation() {
  const std::scoped_lock lock(shared().mutex);
  --shared().count;
  shared().changed.notify_all();
}

bool RunningCompilation::must_stop() {
  return shared().stopping.load(std::memory_order_relaxed);
}

void RunningCompilation::stop_at_exit(const std::string& arch) {
  const std::scoped_lock lock(shared().mutex);
  if (shared().archs.insert(arch).second) std::atexit(stop_and_wait);
}

bool RunningCompilation::stops_at_exit(const std::string& arch) {
  const std::scoped_lock lock(shared().mutex);
  return shared().archs.contains(arch);
}

}  // namespace tessera
