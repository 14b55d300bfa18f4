#include "tessera/policy.h"

#include <atomic>

#include "registration/dispatch/planner.h"
#include "tile_core/base/env_table.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

constexpr int kUnset = -1;
std::atomic<int> chosen{kUnset};

Policy of_environment() {
  env::check();
  dispatch::read_files_of_environment();
  return env::policy();
}
env::Cached<Policy> from_environment(of_environment);

}  // namespace

void set_policy(std::optional<Policy> policy) {
  if (policy.has_value() && *policy != Policy::automatic && *policy != Policy::tile &&
      *policy != Policy::native)
    throw UserError::format("set_policy: expected automatic, tile or native, but got {}",
                            static_cast<int>(*policy));
  chosen.store(policy.has_value() ? static_cast<int>(*policy) : kUnset);
}

Policy policy() {
  const Policy otherwise = from_environment.get();
  const int set = chosen.load(std::memory_order_relaxed);
  return set == kUnset ? otherwise : static_cast<Policy>(set);
}

}  // namespace tessera
