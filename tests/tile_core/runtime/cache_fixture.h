#pragma once
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>

#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/disk_cache.h"

namespace tessera::test {

/// A test with its own empty cache folder (not yet made), settings at their defaults, captured warnings and
/// statistics that start at 0.
class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    set("TESSERA_CACHE_DIR", place().string());
    for (const char* name : {"TESSERA_JIT", "TESSERA_DUMP", "TESSERA_LOG", "TESSERA_CACHE_MAX_MB"})
      set(name, "");
    disk_cache::reset_statistics();
  }

  std::filesystem::path place() const { return folder_ / "cache"; }

  /// For the rest of the test.
  void set(const std::string& name, const std::optional<std::string>& value) {
    variables_.push_back(std::make_unique<ScopedVariable>(name, value));
  }

  /// Warnings so far.
  std::vector<std::string> warnings() const { return capture_.lines(); }

  TemporaryFolder folder_;

 private:
  log::Capture capture_;
  std::vector<std::unique_ptr<ScopedVariable>> variables_;
};

}  // namespace tessera::test
