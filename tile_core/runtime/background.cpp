#include "tile_core/runtime/background.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera::background {
namespace {

class Pool {
 public:
  void submit(std::function<void()> job) {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() > idle_ && threads_ < kMaxThreads) add_thread();
    wake_.notify_one();
  }

 private:
  static constexpr std::size_t kMaxThreads = 4;

  void add_thread() {
    try {
      std::thread([this] { work(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      if (threads_ > 0) return;  // they take the job in their time
      jobs_.pop_back();
      throw;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      --idle_;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
};

Pool& pool() {
  static auto* leaked = new Pool;  // its threads outlive static destructors
  return *leaked;
}

}  // namespace

void submit(std::function<void()> job) {
  pool().submit(std::move(job));
}

}  // namespace tessera::background
