#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "tile_core/base/env.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/cubin.h"
#include "tile_core/runtime/loaded_function.h"
#include "tile_core/target/target.h"

namespace tessera {

/// One kernel for one architecture in this process: compiled at most once, whoever asks. Made by
/// `kernel_store::get` and never destroyed.
class Kernel {
 public:
  enum class State : std::uint8_t {
    absent,   ///< not compiled; with TESSERA_JIT=off not in the cache on disk either
    pending,  ///< another thread compiles it
    ready,
    failed,  ///< for good, until `kernel_store::forget_failures`
  };

  Kernel(KernelText text, const Target& target);

  const KernelText& text() const { return text_; }
  const Target& target() const { return target_; }

  State state() const { return state_.load(std::memory_order_acquire); }

  /// Gets the kernel as far as `mode` allows and returns its state. block: waits, ready or failed.
  /// background: starts a compilation, pending at first. off: takes it from the cache on disk, else absent;
  /// waits for a thread that is at it. Never throws for a failure.
  State request(JitMode mode);

  /// Throws InternalError unless ready.
  const Cubin& cubin() const;
  /// What the compiler said; throws InternalError unless failed.
  const std::string& failure() const;

  /// The compiler has run for it in this process; false where it came from the cache on disk.
  bool compiled() const { return compiled_; }
  /// Changes with every answer that `request` may have given before.
  std::uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  LoadedFunctions& functions() { return functions_; }

  void forget_failure();

 private:
  bool claim();                    // absent -> pending: the caller has to produce
  void produce(bool may_compile);  // pending -> ready, failed or absent
  void start_producing();          // the same in the background
  void settle(State state);
  void fail(const std::string& why);
  State wait();  // until it is not pending

  const KernelText text_;
  const Target target_;
  std::mutex mutex_;  // guards the changes of state_; held neither while compiling nor while reading the disk
  std::condition_variable settled_;
  std::atomic<State> state_{State::absent};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> looked_on_disk_{false};
  std::atomic<bool> compiled_{false};
  Cubin cubin_;
  std::string failure_;
  LoadedFunctions functions_;
};

namespace kernel_store {

/// The process's kernel of this text and architecture. Compiles nothing. Keep the reference: a look-up hashes
/// the text.
Kernel& get(const KernelText& text, const Target& target);

/// Failed kernels may be tried again: for a process that has repaired its surroundings.
void forget_failures();

struct Statistics {
  std::uint64_t compiles = 0;  ///< runs of the compiler, failed ones included
  std::uint64_t failures = 0;
};
Statistics statistics();

}  // namespace kernel_store
}  // namespace tessera
