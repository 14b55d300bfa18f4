#pragma once
#include <atomic>
#include <optional>
#include <shared_mutex>

#include "registration/dispatch/call_key.h"
#include "tile_core/runtime/kernel_store.h"

namespace tessera::dispatch {

/// What was decided for one call.
struct Decision {
  Kernel* kernel = nullptr;  ///< nullptr: native. Kernels live for ever
  bool loaded = false;       ///< ready, and loaded on the call's device
  /// The kernel's `moment_of` at which it was refused: until another one native runs, and nobody is asked.
  std::optional<std::uint64_t> refused_at;
};

/// The decisions of this process: read by every call, written once for each new one. Holds a bounded number:
/// a server that sees every length of sequence forgets and decides again, which compiles nothing.
class Decisions {
 public:
  std::optional<Decision> find(const CallKey& key) const;
  /// `epoch`: read before the decision was made. One that `clear` has overtaken is dropped.
  void insert(const CallKey& key, const Decision& decision, std::uint64_t epoch);
  void clear();
  /// Of which decisions are in force; each `clear` begins another.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  static constexpr std::size_t kMost = 8192;
  std::atomic<std::uint64_t> epoch_{1};
  mutable std::shared_mutex mutex_;
  CallMap<Decision> map_;
};

}  // namespace tessera::dispatch
