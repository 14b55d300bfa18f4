#include "tests/fuzz/crash.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <unistd.h>

namespace tessera::fuzz {
namespace {

/// What a signal handler may say of the cases that run, each in the place of its thread. All of them: what a
/// case has torch do may run in a thread of torch's.
std::array<std::array<char, 200>, 64> running{};
std::atomic<std::size_t> threads = 0;

/// Where a thread's case stands, as long as it lives.
struct Place {
  std::array<char, 200>& text = running[threads++ % running.size()];
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { text.fill('\0'); }
};

void write_text(const char* text) {
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void say_what_ran(int signal) {
  constexpr int kFrames = 40;
  std::array<void*, kFrames> frames{};
  for (const auto& text : running) {
    if (text.front() == '\0') continue;
    write_text("\nkilled in: ");
    write_text(text.data());
  }
  write_text("\n");
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), kFrames), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void name_case_to_signals(std::string_view text) {
  thread_local Place place;
  place.text.fill('\0');
  std::copy_n(text.begin(), std::min(text.size(), place.text.size() - 1), place.text.begin());
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGTERM}) std::signal(signal, say_what_ran);
}

}  // namespace tessera::fuzz
