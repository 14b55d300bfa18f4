#include "tile_core/autotune/records.h"

#include <nlohmann/json.hpp>

#include "tests/tile_core/autotune/support.h"
#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

class RecordsTest : public InFolder {
 protected:
  /// What reading this text complains about; the records are then none.
  std::string problem_of(const std::string& text) {
    Records records;
    const std::string file = write("records.json", text);
    std::string problem = records.add_file(file);
    EXPECT_EQ(records.size(), 0U) << text.substr(0, 100);
    const std::size_t at = problem.find(file);
    return at == std::string::npos ? problem : problem.replace(at, file.size(), "FILE");
  }

  /// A whole file with one value replaced.
  std::string with(const nlohmann::json::json_pointer& place, const nlohmann::json& value) {
    Records records;
    records.add(record(linear_key(64, 64, 64), {{16, 5}}));
    records.write(path("whole.json"));
    std::ifstream file(path("whole.json"));
    nlohmann::json document = nlohmann::json::parse(file);
    document[place] = value;
    return document.dump();
  }
};

using Place = nlohmann::json::json_pointer;

TEST_F(RecordsTest, ComeBackAsTheyWere) {
  Records written;
  Record r = record(linear_key(4096, 3072, 768), {{128, 7.5}, {64, 9}});
  r.variants.push_back({variant(32), 0, 0, "did not compile: too many registers"});
  written.add(r);
  written.add(record(linear_key(1, 2, 3), {{16, 1}}));
  written.write(path("records.json"));
  Records read;
  EXPECT_EQ(read.add_file(path("records.json")), "");
  EXPECT_EQ(read.size(), 2U);
  const Record* found = read.find(r.key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->key, r.key);
  EXPECT_EQ(found->native_name, "cuBLAS");
  EXPECT_EQ(found->native_microseconds, 10);
  ASSERT_EQ(found->variants.size(), 3U);
  EXPECT_EQ(found->variants[0].variant, variant(128));
  EXPECT_EQ(found->variants[0].microseconds, 7.5);
  EXPECT_EQ(found->variants[2].failure, "did not compile: too many registers");
}

TEST_F(RecordsTest, KeepTheVersionsTheyWereMeasuredWith) {
  Records written;
  Record r = record(linear_key(64, 64, 64), {{16, 1}});
  r.versions = {"2.11.0", "13.0", "12.9"};
  written.add(r);
  written.write(path("records.json"));
  Records read;
  EXPECT_EQ(read.add_file(path("records.json")), "");
  EXPECT_EQ(read.find(r.key)->versions, r.versions);
}

TEST_F(RecordsTest, OfOlderFilesHaveNoVersions) {
  nlohmann::json document = nlohmann::json::parse(with(Place("/records/0/library"), std::string(version())));
  document["records"][0].erase("versions");
  Records read;
  EXPECT_EQ(read.add_text(document.dump(), "old"), "");
  EXPECT_EQ(read.find(linear_key(64, 64, 64))->versions, Versions{});
}

TEST_F(RecordsTest, ANewRecordReplacesTheOldOne) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{16, 5}}));
  records.add(record(linear_key(64, 64, 64), {{16, 4}}));
  EXPECT_EQ(records.size(), 1U);
  EXPECT_EQ(records.find(linear_key(64, 64, 64))->variants[0].microseconds, 4);
}

TEST_F(RecordsTest, SpeakForShapesWithinTwice) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{16, 5}}));
  records.add(record(linear_key(100, 64, 64), {{32, 5}}));
  EXPECT_EQ(records.find(linear_key(128, 64, 64))->key, linear_key(100, 64, 64));  // the nearer one
  EXPECT_EQ(records.find(linear_key(33, 128, 64))->key, linear_key(64, 64, 64));
  EXPECT_EQ(records.find(linear_key(64, 129, 64)), nullptr);
  EXPECT_EQ(records.find(linear_key(31, 64, 64)), nullptr);
}

TEST_F(RecordsTest, SpeakForTheirOwnFamilyOnly) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{16, 5}}));
  Key key = linear_key(64, 64, 64);
  key.device = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(records.find(key), nullptr);
  key = linear_key(64, 64, 64);
  key.facts.tensors[0].alignment = 2;
  EXPECT_EQ(records.find(key), nullptr);
  key = linear_key(64, 64, 64);
  key.facts.flags["bias"] = 1;
  EXPECT_EQ(records.find(key), nullptr);
}

TEST_F(RecordsTest, OfAnotherLibraryAreNone) {
  Records records;
  Record r = record(linear_key(64, 64, 64), {{16, 5}});
  r.library = "0.0.1";
  records.add(r);
  EXPECT_EQ(records.find(r.key), nullptr);
  records.write(path("other.json"));
  const std::string file = path("other.json");
  EXPECT_EQ(records.add_file(file),
            file + ": 1 of its records are of library 0.0.1, not of " + std::string(version()) +
                ", and are not used: tessera bench OP SHAPES --record " + file + " measures again");
  try {
    records.write(path("no folder") + "/records.json");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(),
              path("no folder") + "/records.json: cannot be written: No such file or directory");
  }
}

TEST_F(RecordsTest, B113_FilesThatAreNoJson) {
  EXPECT_EQ(problem_of(""), "FILE: is empty; the file is not used");
  EXPECT_EQ(problem_of("{\"format\": 1,\n \"records\": nonsense}"),
            "FILE: is no JSON: parse error at line 2, column 14: syntax error while parsing value - invalid "
            "literal; last read: '\"records\": no'; the file is not used");
  EXPECT_TRUE(problem_of("{\"format\": 1, \"rec").starts_with("FILE: is no JSON: parse error at line 1, "));
  EXPECT_TRUE(problem_of("\xff\xfe\x00garbage").starts_with("FILE: is no JSON: "));
  EXPECT_TRUE(problem_of("{\"format\": 1, \"records\": [\"\xc3\x28\"]}").starts_with("FILE: is no JSON: "));
  EXPECT_EQ(
      problem_of(std::string(33 << 20, 'x')),
      "FILE: has 34603008 bytes, above the limit of 33554432; is it the right file?; the file is not used");
  Records records;
  EXPECT_EQ(records.add_file(path("missing.json")),
            path("missing.json") + ": cannot be read: No such file or directory; the file is not used");
  EXPECT_TRUE(records.add_file(path("")).ends_with("; the file is not used"));  // a folder
}

TEST_F(RecordsTest, B113_DocumentsOfAnotherForm) {
  EXPECT_EQ(problem_of("[1, 2]"), "FILE: expected an object, but got [1,2]; the file is not used");
  EXPECT_EQ(problem_of("{\"records\": []}"),
            "FILE: expected a member 'format', but got {\"records\":[]}; the file is not used");
  EXPECT_EQ(problem_of("{\"format\": 2, \"records\": []}"),
            "FILE.format: expected a whole number from 1 to 1, but got 2; the file is not used");
  EXPECT_EQ(problem_of("{\"format\": 1, \"records\": 7}"),
            "FILE.records: expected a list, but got 7; the file is not used");
}

TEST_F(RecordsTest, B113_WrongValues) {
  const auto expect = [&](const char* place, const nlohmann::json& value, const std::string& text) {
    EXPECT_EQ(problem_of(with(Place(place), value)), text + "; the record is not used");
  };
  expect("/records/0/key/dims/M", "64",
         "FILE.records[0].key.dims.M: expected a whole number from 0 to 9223372036854775807, but got \"64\"");
  expect("/records/0/key/dims/M", 6.5,
         "FILE.records[0].key.dims.M: expected a whole number from 0 to 9223372036854775807, but got 6.5");
  expect("/records/0/key/dims/M", std::uint64_t{1} << 63U,
         "FILE.records[0].key.dims.M: expected a whole number from 0 to 9223372036854775807, but got "
         "9223372036854775808");
  expect("/records/0/variants/0/tiles/m", -16,
         "FILE.records[0].variants[0].tiles.m: expected a whole number from 0 to 1048576, but got -16");
  expect(
      "/records/0/variants/0/tiles/m", std::int64_t{1} << 31U,
      "FILE.records[0].variants[0].tiles.m: expected a whole number from 0 to 1048576, but got 2147483648");
  expect("/records/0/variants/0/us", 0,
         "FILE.records[0].variants[0].us: expected a number from 2.2250738585072014e-308 to 1000000000, but "
         "got 0");
  expect(
      "/records/0/native/us", -1,
      "FILE.records[0].native.us: expected a number from 2.2250738585072014e-308 to 1000000000, but got -1");
  expect("/records/0/key/tensors/0/dtype", "float7",
         "FILE.records[0].key.tensors[0].dtype: expected a dtype, but got \"float7\"");
  expect("/records/0/versions/torch", 2, "FILE.records[0].versions.torch: expected a text, but got 2");
  expect("/records/0/library", 1, "FILE.records[0].library: expected a text, but got 1");
  const std::string schedule = problem_of(with(Place("/records/0/variants/0/schedule"), "warps=banana"));
  EXPECT_TRUE(schedule.starts_with("FILE.records[0].variants[0].schedule: expected a schedule ("))
      << schedule;
}

TEST_F(RecordsTest, B113_OneBadRecordLeavesTheOthers) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{16, 5}}));
  records.add(record(linear_key(512, 512, 512), {{64, 5}}));
  records.write(path("two.json"));
  std::ifstream file(path("two.json"));
  nlohmann::json document = nlohmann::json::parse(file);
  document["records"][0]["variants"] = "none";
  Records read;
  EXPECT_EQ(read.add_text(document.dump(), "two"),
            "two.records[0].variants: expected a list, but got \"none\"; the record is not used");
  EXPECT_EQ(read.size(), 1U);
}

TEST_F(RecordsTest, AFileThatCannotBeWrittenIsAnError) {
  Records records;
  EXPECT_THROW(records.write(path("missing/records.json")), UserError);
  EXPECT_FALSE(std::filesystem::exists(path("missing")));
}

}  // namespace
}  // namespace tessera::autotune
