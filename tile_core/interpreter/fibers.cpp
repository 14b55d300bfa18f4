#include "tile_core/interpreter/fibers.h"

#include <utility>

#include "tile_core/base/error.h"

namespace tessera::interpreter {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

/// Thrown inside a fiber that is not to go on.
struct Cancelled {};

thread_local Fiber* starting = nullptr;  // makecontext passes no pointers

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(new std::byte[kStackBytes]) {  // not make_unique, which would clear it
  if (getcontext(&self_) != 0) throw InternalError::format("interpreter: this system has no contexts");
  self_.uc_stack.ss_sp = stack_.get();
  self_.uc_stack.ss_size = kStackBytes;
  self_.uc_link = &caller_;
  makecontext(&self_, &Fiber::enter, 0);
}

Fiber::~Fiber() {
  if (ended_) return;
  cancelled_ = true;
  starting = this;
  swapcontext(&caller_, &self_);
}

void Fiber::resume() {
  starting = this;
  swapcontext(&caller_, &self_);
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Fiber::yield() {
  swapcontext(&self_, &caller_);
  if (cancelled_) throw Cancelled();
}

void Fiber::enter() {
  starting->run();
}

void Fiber::run() {
  try {
    if (!cancelled_) body_();
  } catch (const Cancelled&) {
  } catch (...) {
    error_ = std::current_exception();
  }
  ended_ = true;
}

}  // namespace tessera::interpreter
