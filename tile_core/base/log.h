#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Text for people on stderr: "tessera: ...", one write per line.
namespace tessera::log {

/// What TESSERA_LOG can list.
enum class Topic { dispatch, compile, cache };

/// Writes a warning the first time that `key` is seen in this process.
void warn_once(std::string_view key, const std::string& text);

/// Whether TESSERA_LOG lists the topic; cheap.
bool enabled(Topic topic);

/// Writes `text` if the topic is enabled.
void info(Topic topic, const std::string& text);

/// The same the first time that the text is seen in this process: for what hot calls say.
void info_once(Topic topic, const std::string& text);

/// While one lives, lines are kept in it instead of stderr and no key counts as seen. For tests; not nested.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::vector<std::string> lines() const;
};

}  // namespace tessera::log
