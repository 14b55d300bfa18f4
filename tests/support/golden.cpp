#include "tests/support/golden.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "tile_core/base/env.h"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = TESSERA_TESTS_DIR;

fs::path golden_path(std::string_view name, const char* test_file) {
  std::string test = fs::path(test_file).lexically_normal().replace_extension().string();
  constexpr std::string_view kFolder = "tests/";  // __FILE__ may be relative to the build folder
  test.erase(0, test.rfind(kFolder) + kFolder.size());
  constexpr std::string_view kSuffix = "_test";
  if (test.ends_with(kSuffix)) test.resize(test.size() - kSuffix.size());
  return kTests / "golden" / test / fmt::format("{}.txt", name);
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// "line 3\n  golden: ...\n  now:    ...", the first difference.
std::string first_difference(const std::string& golden, const std::string& now) {
  std::istringstream old_lines(golden);
  std::istringstream new_lines(now);
  std::string old_line;
  std::string new_line;
  for (int number = 1;; ++number) {
    bool old_more = static_cast<bool>(std::getline(old_lines, old_line));
    bool new_more = static_cast<bool>(std::getline(new_lines, new_line));
    if (!old_more) old_line = "(end)";
    if (!new_more) new_line = "(end)";
    if (old_line != new_line || (!old_more && !new_more)) {
      return fmt::format("line {}\n  golden: {}\n  now:    {}", number, old_line, new_line);
    }
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  if (!fs::exists(kTests / path)) ADD_FAILURE() << "no file tests/" << path;
  return read(kTests / path);
}

::testing::AssertionResult matches_golden(std::string_view name, std::string_view text,
                                          const char* test_file) {
  fs::path path = golden_path(name, test_file);
  if (env::update_golden()) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return ::testing::AssertionSuccess();
  }
  std::string shown = (fs::path("tests") / fs::relative(path, kTests)).string();
  if (!fs::exists(path)) {
    return ::testing::AssertionFailure() << shown << " does not exist; TESSERA_UPDATE_GOLDEN=1 writes it:\n"
                                         << text;
  }
  std::string golden = read(path);
  if (golden == text) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << shown << " differs at " << first_difference(golden, std::string(text))
         << "\n  TESSERA_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace tessera::test
