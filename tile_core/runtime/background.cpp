#include "tile_core/runtime/background.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "tile_core/base/error.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/nvrtc.h"

namespace tessera::background {
namespace {

constexpr auto kPatienceAtExit = std::chrono::seconds(2);

class Pool {
 public:
  void submit(std::function<void()> job) {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    jobs_.push_back(std::move(job));
    if (threads_ < kMaxThreads && jobs_.size() > idle_) start_thread();
    wake_.notify_one();
  }

  // The compiler's library must not be torn down under a thread that runs in it.
  void stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    jobs_.clear();
    cancel_compilations();
    idle_again_.wait_for(lock, kPatienceAtExit, [&] { return running_ == 0; });
  }

 private:
  static constexpr std::size_t kMaxThreads = 4;

  void start_thread() {
    ++threads_;
    std::thread([this] { work(); }).detach();
  }

  void work() {
    stop_at_exit();
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      --idle_;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
      lock.unlock();
      job();
      lock.lock();
      if (--running_ == 0) idle_again_.notify_all();
    }
  }

  static void stop_at_exit();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_again_;
  std::deque<std::function<void()>> jobs_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
};

Pool& pool() {
  static auto* leaked = new Pool;  // its threads outlive static destructors
  return *leaked;
}

// Exit handlers run in reverse order: the compiler's library is opened, and has registered its own, before
// ours is.
void Pool::stop_at_exit() {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      Nvrtc::get();
    } catch (const UserError&) {
      return;  // every job will say so
    }
    std::atexit([] { pool().stop(); });
  });
}

}  // namespace

void submit(std::function<void()> job) {
  pool().submit(std::move(job));
}

}  // namespace tessera::background
