#pragma once
#include <string>

namespace tessera::perf {

/// What is being done, on stderr: one line that is written over on a terminal, else a line for each step.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& line);
  /// Clears the line, so that other text may be written.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace tessera::perf
