#include "perf/failures.h"

#include <exception>
#include <fmt/format.h>

namespace tessera::perf {

void Failures::attempt(const std::string& call, Progress& progress, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const std::exception& error) {
    progress.clear();
    fmt::print("FAILED {}: {}\n", call, error.what());
    list_.push_back({{"call", call}, {"problem", error.what()}});
  }
}

}  // namespace tessera::perf
