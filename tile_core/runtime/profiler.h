#pragma once
#include <string>

/// Named ranges of host work, shown by NVTX tools and by a hook that a higher room installs.
namespace tessera::profiler {

/// The hook: `begin` returns a token that `end` gets, in the same thread. For torch's RECORD_FUNCTION.
struct Hook {
  void* (*begin)(const char* name) = nullptr;
  void (*end)(void* token) = nullptr;
};
void install(Hook hook);

/// A range from construction to destruction.
class Range {
 public:
  explicit Range(const std::string& name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  void (*end_)(void*) = nullptr;
  void* token_ = nullptr;
};

}  // namespace tessera::profiler
