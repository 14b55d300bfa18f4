#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "perf/bench.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

namespace tessera::perf {
namespace {

class AddToFile : public ::testing::Test {
 protected:
  static autotune::Record record(std::int64_t M) {
    return {.key = {.op = "linear", .dims = {{"M", M}}, .device = "NVIDIA H200", .arch = "sm_90a"},
            .library = std::string(version()),
            .versions = {"2.11.0", "13.0", "13.0"},
            .native_microseconds = 1,
            .native_name = "linear"};
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void add_wrongly(const std::string& problem) {
    const std::string before = text();
    try {
      add_to_file(file_, record(3));
      FAIL() << "no error";
    } catch (const UserError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(file_ + problem)) << error.what();
      EXPECT_TRUE(std::string(error.what()).ends_with("; nothing was written to it")) << error.what();
    }
    EXPECT_EQ(text(), before);
  }

  test::TemporaryFolder folder_;
  const std::string file_ = (folder_ / "records.json").string();
};

TEST_F(AddToFile, KeepsTheRecordsThatAreThere) {
  add_to_file(file_, record(1));
  add_to_file(file_, record(2));
  add_to_file(file_, record(2));
  autotune::Records records;
  EXPECT_EQ(records.add_file(file_), "");
  EXPECT_EQ(records.size(), 2U);
}

TEST_F(AddToFile, LeavesAFileThatItCannotReadAsItIs) {
  std::ofstream(file_) << "{\"format\": 1, \"rec";
  add_wrongly(": is no JSON: ");
}

TEST_F(AddToFile, LeavesAFileWithOneBadRecordAsItIs) {
  add_to_file(file_, record(1));
  std::string changed = text();
  changed.replace(changed.find("\"M\": 1"), 6, "\"M\": x"),
      changed.replace(changed.find(": x"), 3, ": \"x\"");
  std::ofstream(file_) << changed;
  add_wrongly(".records[0].key.dims.M: expected a whole number");
}

}  // namespace
}  // namespace tessera::perf
