#include "tests/tools/command_line.h"

namespace tessera::test {
namespace {

class Cache : public CommandLine {
 protected:
  /// Compiles one kernel into the cache.
  void fill() {
    const SubprocessResult result =
        tessera({"warmup", "add", "1024x1024", "--device", "H200", "--policy", "tile"});
    ASSERT_EQ(result.exit_code, 0) << result.output << result.errors;
  }

  std::filesystem::path entry() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(place()))
      if (file.is_regular_file()) return file.path();
    return {};
  }
};

TEST_F(Cache, ListsAndSumsKernels) {
  EXPECT_EQ(tessera({"cache", "size"}).output, place().string() + ": kernels: 0, 0.0 of 1024 MB\n");
  fill();
  const SubprocessResult list = tessera({"cache", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.output.find("sm_90a   tessera_add_"), std::string::npos) << list.output;
  EXPECT_NE(tessera({"cache", "size"}).output.find(": kernels: 1, "), std::string::npos);
}

TEST_F(Cache, ClearEmptiesIt) {
  fill();
  EXPECT_EQ(tessera({"cache", "clear"}).output, place().string() + ": kernels removed: 1\n");
  EXPECT_EQ(tessera({"cache", "size"}).output, place().string() + ": kernels: 0, 0.0 of 1024 MB\n");
}

TEST_F(Cache, VerifyRemovesBadKernelsWithExitCode1) {
  fill();
  EXPECT_EQ(tessera({"cache", "verify"}).exit_code, 0);
  const std::string file = entry().string();
  const std::uintmax_t size = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, size / 2);
  const SubprocessResult result = tessera({"cache", "verify"});
  EXPECT_EQ(result.exit_code, 1);
  const std::string half = std::to_string(size / 2), whole = std::to_string(size);
  EXPECT_EQ(result.output.rfind("removed " + file + ": has " + half + " bytes instead of " + whole + "\n", 0),
            0)
      << result.output;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Cache, WrongWordsAreExplained) {
  EXPECT_EQ(tessera({"cache"}).errors, usage_error("tessera cache", "expected list, size, verify or clear"));
  const SubprocessResult result = tessera({"cache", "purge"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors,
            usage_error("tessera cache", "expected list, size, verify or clear but got 'purge'"));
  EXPECT_EQ(tessera({"cache", "list", "all"}).errors,
            usage_error("tessera cache", "'all' is one word too many after list"));
}

TEST_F(Cache, APlaceThatIsNoFolderIsAnError) {
  set("TESSERA_CACHE_DIR", "/dev/null");
  for (const char* action : {"list", "size", "verify", "clear"}) {
    const SubprocessResult result = tessera({"cache", action});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(
        result.errors,
        "tessera cache: /dev/null is no cache that can be used: Not a directory; set TESSERA_CACHE_DIR to "
        "a folder of yours\n");
  }
}

TEST_F(Cache, WithoutAPlaceItSaysWhatToSet) {
  set("TESSERA_CACHE_DIR", {});
  set("XDG_CACHE_HOME", {});
  set("HOME", "relative");
  const SubprocessResult result = tessera({"cache", "size"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors,
            "tessera cache: there is no cache: neither TESSERA_CACHE_DIR, XDG_CACHE_HOME, HOME nor the "
            "password file names a "
            "folder; set TESSERA_CACHE_DIR\n");
}

}  // namespace
}  // namespace tessera::test
