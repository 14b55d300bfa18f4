#pragma once
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <ucontext.h>

namespace tessera::interpreter {

/// A function with a stack of its own, which may stop in the middle and go on later.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  /// Unwinds the stack of one that has not ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  bool ended() const { return ended_; }
  /// Runs until the body yields or ends; throws what the body throws.
  void resume();
  /// Called by the body: back to whoever resumed it.
  void yield();

 private:
  static void enter();
  void run();

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t self_{};
  ucontext_t caller_{};
  std::exception_ptr error_;
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace tessera::interpreter
