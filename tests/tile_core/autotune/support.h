#pragma once
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "tile_core/autotune/records.h"
#include "tile_core/base/version.h"

namespace tessera::autotune {

inline Key linear_key(std::int64_t M, std::int64_t N, std::int64_t K) {
  const TensorFacts tensor{bf16, 1, 16};
  return {"linear",
          {{tensor, tensor, tensor}, {{"bias", 0}}},
          {{"M", M}, {"N", N}, {"K", K}},
          "NVIDIA H200",
          "sm_90a"};
}

inline Variant variant(int m) {
  return {{{"m", m}, {"n", 64}}, {.warps = 4}};
}

/// Native at 10 us; variants by tile size at the given times.
inline Record record(const Key& key, std::initializer_list<std::pair<int, double>> times) {
  Record r{.key = key,
           .library = std::string(version()),
           .native_microseconds = 10,
           .native_error = 1e-3,
           .native_name = "cuBLAS"};
  for (const auto& [m, us] : times) r.variants.push_back({variant(m), us, 1e-3, ""});
  return r;
}

/// A folder of its own for each test.
class InFolder : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tessera_autotune_" + std::to_string(getpid()));
};

}  // namespace tessera::autotune
