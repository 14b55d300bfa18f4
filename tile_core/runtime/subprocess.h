#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct SubprocessResult {
  int exit_code = 0;   ///< 128 + signal where one ended it
  std::string output;  ///< stdout
  std::string errors;  ///< stderr
};

/// Runs command[0] with the rest as arguments, without a shell. Throws UserError where it cannot be started.
SubprocessResult run_subprocess(const std::vector<std::string>& command);

/// A file in the system's folder for temporary files, removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tessera
