#pragma once
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/runtime/subprocess.h"

namespace tessera::test {

inline SubprocessResult tessera(std::vector<std::string> words) {
  words.insert(words.begin(), TESSERA_CLI);
  return run_subprocess(words);
}

/// What a wrong word gives; argp breaks its own line at 79 columns.
inline std::string usage_error(const std::string& command, const std::string& text) {
  constexpr std::size_t kColumns = 78;
  std::string hint = "Try `" + command + " --help' or `" + command + " --usage' for more information.";
  if (hint.size() > kColumns) hint[hint.rfind(' ', kColumns)] = '\n';
  return command + ": " + text + "\n" + hint + "\n";
}

/// Runs the command line without a GPU, with settings at their defaults and a cache of its own.
class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    set("CUDA_VISIBLE_DEVICES", "");
    set("TESSERA_CACHE_DIR", place().string());
    for (const char* name : {"TESSERA_POLICY", "TESSERA_JIT", "TESSERA_DUMP", "TESSERA_LOG", "TESSERA_ARCH",
                             "TESSERA_NVRTC", "TESSERA_RECORDS", "TESSERA_PLANS", "TESSERA_CACHE_MAX_MB"})
      set(name, {});
  }

  std::filesystem::path place() const { return folder_ / "cache"; }

  void set(const std::string& name, const std::optional<std::string>& value) {
    variables_.push_back(std::make_unique<ScopedVariable>(name, value));
  }

  TemporaryFolder folder_;

 private:
  std::vector<std::unique_ptr<ScopedVariable>> variables_;
};

}  // namespace tessera::test
