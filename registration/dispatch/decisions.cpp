#include "registration/dispatch/decisions.h"

#include <mutex>

namespace tessera::dispatch {

std::optional<Decision> Decisions::find(const CallKey& key) const {
  const std::shared_lock lock(mutex_);
  const auto found = map_.find(key.words());
  return found == map_.end() ? std::nullopt : std::optional(found->second);
}

void Decisions::insert(const CallKey& key, const Decision& decision, std::uint64_t epoch) {
  const auto words = key.words();
  const std::unique_lock lock(mutex_);
  if (epoch != this->epoch()) return;
  if (map_.size() >= kMost) map_.clear();
  map_.insert_or_assign({words.begin(), words.end()}, decision);
}

void Decisions::clear() {
  const std::unique_lock lock(mutex_);
  ++epoch_;
  map_.clear();
}

}  // namespace tessera::dispatch
