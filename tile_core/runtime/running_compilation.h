#pragma once
#include <string>

namespace tessera {

/// Counts a compilation as long as it lives. NVRTC crashes when the process tears it down under a thread that
/// compiles, so the end of the process has to stop compilations, where NVRTC lets it, and to wait for the
/// rest.
class RunningCompilation {
 public:
  /// Throws UserError once the process ends.
  explicit RunningCompilation(const std::string& kernel);
  ~RunningCompilation();
  RunningCompilation(const RunningCompilation&) = delete;
  RunningCompilation& operator=(const RunningCompilation&) = delete;

  static bool must_stop();

  /// Makes the end of the process wait, ten seconds at most. Exit handlers run in reverse order, and NVRTC
  /// registers some when it first compiles for an architecture; ours has to run before those, so call it
  /// after that compilation.
  void stop_at_exit(const std::string& arch);
  static bool stops_at_exit(const std::string& arch);
};

}  // namespace tessera
