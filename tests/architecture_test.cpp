#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

// The plan of the house, checked on the sources' text. Rules and exceptions are the tables below.
namespace {

namespace fs = std::filesystem;

// A file includes its own room and those of lower rows; rooms of one row never see each other.
const std::vector<std::vector<std::string>> kDirection = {
    {"tile_core/base"},
    {"tile_core/ir"},
    {"tile_core/target"},
    {"tile_core/dsl", "tile_core/passes", "tile_core/interpreter", "tile_core/codegen"},
    {"tile_core/runtime"},
    {"tile_core/autotune"},
    {"ops"},
    {"registration"},
    {"models", "perf"},
    {"tools"},
};

// What only the named places may hold; a place is a folder, a file, or the start of its path.
struct Reserved {
  const char* what;
  const char* pattern;
  std::vector<std::string> places;
};
const std::vector<Reserved> kReserved = {
    {"torch",
     R"(#include <(torch|ATen|c10|caffe2)/)",
     {"include/tessera/", "registration/", "models/", "perf/", "tools/", "examples/"}},
    {"the CUDA driver and NVRTC", R"(#include <(cuda|nvrtc)\.h>)", {"tile_core/runtime/"}},
    {"reading the environment",
     R"(\bgetenv\b|\benviron\b)",
     {"tile_core/base/env.cpp", "tile_core/runtime/subprocess.cpp"}},  // the latter hands it on to a child
    {"kernel text", R"(__global__|__device__|__shared__|\basm\b)", {"tile_core/codegen/"}},
};

// Where a pass mentions the name of a program or an axis: for people's eyes only.
const std::vector<std::string> kNamesInPasses = {
    R"(mask_tails.cpp: diagnostic\("axis '")",
    R"(pipeline.cpp: dump::write\()",
    R"(pipeline.cpp: verify_after\(pass\.name)",
    R"(channels.cpp: .*new_axis\(\{\.name = name)",
    R"(channels.cpp: throw InternalError)",
    R"(plan_shared_memory.cpp: .*c\.target\.arch)",
    R"((dot_path|warp_dots).cpp: .*return fmt::format\()",
    R"(cluster.cpp: reasons\.push_back\(fmt::format\()",
    R"((store_slices|group_rows|specialize_warps).cpp: info\.name \+= )",
    R"(role_writer.cpp: p_\.name\);)",
    R"(role_builder.cpp: index_of\(old\), in_\.name\);)",
    R"(lower_roles.cpp: diagnostic\(fmt::format\()",
};

// What must be seen at one glance: from the line with the first text to the line with the second.
struct Screen {
  const char* file;
  const char* first;
  const char* last;
  int lines;
};
const std::vector<Screen> kScreens = {
    {"tile_core/passes/pipeline.cpp", "kPipeline[] = {", "};", 24},
    {"registration/schema.cpp", "TORCH_LIBRARY", "}\n", 60},
};

constexpr int kLongestFile = 400, kLongestFunction = 80;

struct Source {
  std::string path;  // from the root
  std::vector<std::string> lines;
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Source> sources(const std::vector<std::string>& folders) {
  const std::set<std::string> kinds = {".cpp", ".h", ".cuh", ".in", ".inc", ".py", ".cmake", ".txt"};
  std::vector<Source> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TESSERA_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file() || !kinds.contains(entry.path().extension())) continue;
      found.push_back({fs::relative(entry.path(), TESSERA_SOURCE_DIR), lines_of(entry.path())});
    }
  }
  return found;
}

const std::vector<Source>& house() {
  static const auto all =
      sources({"tile_core", "ops", "registration", "models", "perf", "tools", "examples", "include"});
  return all;
}

bool starts_with_any(const std::string& path, const std::vector<std::string>& places) {
  return std::ranges::any_of(places, [&](const std::string& place) { return path.starts_with(place); });
}

struct Room {
  std::string name;
  int row = -1;  // of kDirection; -1: no room
};

Room room_of(const std::string& path) {
  for (std::size_t row = 0; row < kDirection.size(); ++row) {
    for (const std::string& name : kDirection[row]) {
      if (path.starts_with(name + "/")) return {name, static_cast<int>(row)};
    }
  }
  return {};
}

std::vector<std::string> included_by(const Source& source) {
  static const std::regex include(R"re(^#include "([^"]+)")re");
  std::vector<std::string> names;
  for (const std::string& line : source.lines) {
    if (std::smatch match; std::regex_search(line, match, include))
      names.push_back(match[1].str().starts_with("tessera/") ? "include/" + match[1].str() : match[1].str());
  }
  return names;
}

// The highest room that a public header shows, through the public headers that it includes; torch is
// registration's.
Room shown_by(const std::string& header) {
  Room highest;
  for (const Source& source : house()) {
    if (source.path != header) continue;
    const std::regex torch(kReserved[0].pattern);
    if (std::ranges::any_of(source.lines, [&](const auto& line) { return std::regex_search(line, torch); }))
      highest = room_of("registration/");
    for (const std::string& name : included_by(source)) {
      const Room room = name.starts_with("include/") ? shown_by(name) : room_of(name);
      if (room.row > highest.row) highest = room;
    }
  }
  return highest;
}

TEST(Architecture, RoomsIncludeLowerRoomsOnly) {
  std::string broken;
  for (const Source& source : house()) {
    const Room room = room_of(source.path);
    if (room.row < 0) continue;
    for (const std::string& name : included_by(source)) {
      const Room other = name.starts_with("include/") ? shown_by(name) : room_of(name);
      const bool legal = other.name == room.name || other.row < room.row;
      if (!legal) broken += source.path + " includes " + name + ", of " + other.name + "\n";
    }
  }
  EXPECT_EQ(broken, "");
}

TEST(Architecture, ExamplesIncludePublicHeadersOnly) {
  std::string broken;
  for (const Source& source : sources({"examples"})) {
    for (const std::string& name : included_by(source)) {
      if (!starts_with_any(name, {"include/tessera/", "examples/"}))
        broken += source.path + " includes " + name + "\n";
    }
  }
  EXPECT_EQ(broken, "");
}

TEST(Architecture, SomeThingsHaveOnePlace) {
  std::string broken;
  for (const Reserved& reserved : kReserved) {
    const std::regex pattern(reserved.pattern);
    for (const Source& source : house()) {
      if (starts_with_any(source.path, reserved.places)) continue;
      for (std::size_t i = 0; i < source.lines.size(); ++i) {
        if (std::regex_search(source.lines[i], pattern))
          broken += source.path + ":" + std::to_string(i + 1) + ": " + reserved.what + ": " +
                    source.lines[i] + "\n";
      }
    }
  }
  EXPECT_EQ(broken, "");
}

// The package brings no other library's headers.
TEST(Architecture, PublicHeadersNeedTorchAlone) {
  std::set<std::string> seen;
  std::string broken;
  const std::regex foreign(R"(#include <(fmt|nlohmann|boost|cuda|nvrtc))");
  const std::function<void(const Source&)> visit = [&](const Source& source) {
    if (!seen.insert(source.path).second) return;
    for (const std::string& line : source.lines) {
      if (std::regex_search(line, foreign)) broken += source.path + ": " + line + "\n";
    }
    for (const std::string& name : included_by(source)) {
      const auto next = std::ranges::find(house(), name, &Source::path);
      if (next == house().end()) {
        broken += source.path + " includes " + name + ", which is no file\n";
      } else {
        visit(*next);
      }
    }
  };
  for (const Source& source : house()) {
    if (source.path.starts_with("include/")) visit(source);
  }
  EXPECT_EQ(broken, "");
}

TEST(Architecture, NoPassReadsANameOfAProgramOrAnAxis) {
  std::string broken;
  const std::regex name(R"((\.|->)name\b)");
  for (const Source& source : sources({"tile_core/passes"})) {
    for (const std::string& line : source.lines) {
      if (!std::regex_search(line, name)) continue;
      const std::string text = fs::path(source.path).filename().string() + ": " +
                               line.substr(std::min(line.find_first_not_of(' '), line.size()));
      const bool allowed = std::ranges::any_of(
          kNamesInPasses, [&](const std::string& use) { return std::regex_search(text, std::regex(use)); });
      if (!allowed) broken += text + "\n";
    }
  }
  EXPECT_EQ(broken, "");
}

TEST(Architecture, FilesAreShort) {
  std::string broken;
  for (const Source& source : sources({"tile_core", "ops", "registration", "models", "perf", "tools",
                                       "examples", "include", "cmake", "tests"})) {
    if (source.path.starts_with("tests/golden/")) continue;
    if (static_cast<int>(source.lines.size()) > kLongestFile)
      broken += source.path + ": " + std::to_string(source.lines.size()) + " lines\n";
  }
  EXPECT_EQ(broken, "");
}

// As clang-format lays it out, a function begins with the last line of its kind that is not indented, and
// ends with "}".
TEST(Architecture, FunctionsFitAScreen) {
  std::string broken;
  for (const Source& source : house()) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string& line = source.lines[i];
      if (line == "}" && i - first + 1 > kLongestFunction)
        broken +=
            source.path + ":" + std::to_string(first + 1) + ": " + std::to_string(i - first + 1) + " lines\n";
      const bool flush = !line.empty() && std::string_view(" #}/").find(line[0]) == std::string_view::npos;
      if (flush) first = i;
    }
  }
  EXPECT_EQ(broken, "");
}

TEST(Architecture, TablesFitAScreen) {
  for (const Screen& screen : kScreens) {
    const auto lines = lines_of(fs::path(TESSERA_SOURCE_DIR) / screen.file);
    const auto holds = [](std::string_view text) {
      return [text](const std::string& line) { return (line + "\n").find(text) != std::string::npos; };
    };
    const auto first = std::ranges::find_if(lines, holds(screen.first));
    ASSERT_NE(first, lines.end()) << screen.file;
    const auto last = std::find_if(first, lines.end(), holds(screen.last));
    ASSERT_NE(last, lines.end()) << screen.file;
    EXPECT_LE(last - first + 1, screen.lines) << screen.file;
  }
}

}  // namespace
