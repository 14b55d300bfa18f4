#include "tile_core/base/log.h"

#include <array>
#include <cstdio>
#include <mutex>
#include <set>

#include "tile_core/base/env.h"

namespace tessera::log {
namespace {

struct Sink {
  std::mutex mutex;
  std::set<std::string, std::less<>> seen;
  std::set<std::string, std::less<>> seen_before_capture;
  std::vector<std::string> captured;
  bool capturing = false;
};

Sink& sink() {
  static auto* leaked = new Sink;  // threads may warn while the process exits
  return *leaked;
}

void write(Sink& sink, const std::string& line) {  // the caller holds the mutex
  if (sink.capturing) {
    sink.captured.push_back(line);
    return;
  }
  const std::string text = line + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

constexpr std::array<std::string_view, 3> kNames = {"dispatch", "compile", "cache"};

std::uint32_t enabled_bits() {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kNames.size(); ++i) bits |= (env::logs(kNames[i]) ? 1U : 0U) << i;
  return bits;
}

std::string line_of(Topic topic, const std::string& text) {
  return "tessera: " + std::string(kNames[static_cast<std::size_t>(topic)]) + ": " + text;
}

}  // namespace

void warn_once(std::string_view key, const std::string& text) {
  const std::scoped_lock lock(sink().mutex);
  if (sink().seen.emplace(key).second) write(sink(), "tessera: warning: " + text);
}

bool enabled(Topic topic) {
  static env::Cached<std::uint32_t> bits(enabled_bits);
  return (bits.get() >> static_cast<unsigned>(topic) & 1U) != 0;
}

void info(Topic topic, const std::string& text) {
  if (!enabled(topic)) return;
  const std::scoped_lock lock(sink().mutex);
  write(sink(), line_of(topic, text));
}

void info_once(Topic topic, const std::string& text) {
  if (!enabled(topic)) return;
  const std::scoped_lock lock(sink().mutex);
  const std::string line = line_of(topic, text);
  if (sink().seen.insert(line).second) write(sink(), line);
}

Capture::Capture() {
  const std::scoped_lock lock(sink().mutex);
  sink().capturing = true;
  sink().captured.clear();
  sink().seen_before_capture.swap(sink().seen);
}

Capture::~Capture() {
  const std::scoped_lock lock(sink().mutex);
  sink().capturing = false;
  sink().seen.swap(sink().seen_before_capture);
  sink().seen_before_capture.clear();
}

std::vector<std::string> Capture::lines() const {
  const std::scoped_lock lock(sink().mutex);
  return sink().captured;
}

}  // namespace tessera::log
