#include "tessera/policy.h"

#include <atomic>

namespace tessera {
namespace {

constexpr int kUnset = -1;
std::atomic<int> chosen{kUnset};
env::Cached<Policy> from_environment(env::policy);

}  // namespace

void set_policy(std::optional<Policy> policy) {
  chosen.store(policy.has_value() ? static_cast<int>(*policy) : kUnset);
}

Policy policy() {
  const int set = chosen.load(std::memory_order_relaxed);
  return set == kUnset ? from_environment.get() : static_cast<Policy>(set);
}

}  // namespace tessera
