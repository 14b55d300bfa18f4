#include "perf/progress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace tessera::perf {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() {
  clear();
}

void Progress::step(const std::string& line) {
  if (terminal_) {
    fmt::print(stderr, "{}{}", kClearLine, line);
    std::fflush(stderr);
    shown_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "{}", kClearLine);
  shown_ = false;
}

}  // namespace tessera::perf
