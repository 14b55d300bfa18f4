#include <fcntl.h>
#include <regex>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/tile_core/runtime/cache_fixture.h"
#include "tile_core/base/env.h"
#include "tile_core/runtime/subprocess.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Processes of their own: kernel_user.cpp.
class Processes : public test::CacheTest {
 protected:
  static SubprocessResult user(std::vector<std::string> words) {
    words.insert(words.begin(), TESSERA_KERNEL_USER);
    return run_subprocess(words);
  }

  static std::vector<SubprocessResult> users_at_once(int processes, const std::string& kernels) {
    std::vector<SubprocessResult> results(static_cast<std::size_t>(processes));
    std::vector<std::thread> threads;
    for (SubprocessResult& result : results) {
      threads.emplace_back([&result, &kernels] { result = user({"use", kernels}); });
    }
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  std::size_t unfinished() const {
    std::size_t count = 0;
    for (const auto& item : fs::recursive_directory_iterator(place())) {
      if (item.path().filename().string().starts_with(".unfinished")) ++count;
    }
    return count;
  }
};

std::string images_of(const std::string& output) {
  std::smatch match;
  return std::regex_search(output, match, std::regex("images (\\w+)")) ? match[1].str() : "none in " + output;
}

// B104: processes that start together on an empty cache.
TEST_F(Processes, B104ManyOnAnEmptyCache) {
  for (int round = 0; round < 2; ++round) {
    set("TESSERA_CACHE_DIR", place() / std::to_string(round));
    std::string images;
    for (const SubprocessResult& result : users_at_once(4, "8")) {
      EXPECT_EQ(result.exit_code, 0) << result.output;
      EXPECT_TRUE(result.output.starts_with("ready 8 ")) << result.output;
      if (images.empty()) images = images_of(result.output);
      EXPECT_EQ(images_of(result.output), images);
    }
    const SubprocessResult last = user({"use", "8"});
    EXPECT_EQ(last.output, "ready 8 compiles 0 hits 8 written 0 rejected 0 images " + images + "\n");
    EXPECT_EQ(disk_cache::verify().size(), 0U);
    EXPECT_EQ(disk_cache::list().size(), 8U);
  }
  EXPECT_EQ(unfinished(), 0U);
}

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(::posix_spawn(&child, words[0], nullptr, nullptr, words.data(), environ), 0);
  return child;
}

// A kill at any moment of a compilation leaves nothing that the next process stumbles over.
TEST_F(Processes, KilledWhileCompiling) {
  for (const int milliseconds : {20, 100, 300, 700}) {
    const pid_t child = start({TESSERA_KERNEL_USER, "use", "40"});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(disk_cache::verify().size(), 0U) << "after " << milliseconds << " ms";
  }
  const SubprocessResult next = user({"use", "40"});
  EXPECT_EQ(next.exit_code, 0) << next.output;
  EXPECT_TRUE(next.output.starts_with("ready 40 ")) << next.output;
  EXPECT_NE(next.output.find("rejected 0"), std::string::npos) << next.output;
}

// B108: no HOME, no XDG folder, and a user without an entry in the password file: memory only, one warning,
// nothing written to the root folder or the working one.
TEST_F(Processes, B108NoHomeAtAll) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const SubprocessResult result = run_subprocess(
      {"/usr/bin/env", "-i", "TESSERA_NVRTC=" + env::nvrtc(), TESSERA_KERNEL_USER, "use", "2", "54321"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.errors.find(
                "tessera: warning: no folder for the kernel cache cannot be used: neither TESSERA_CACHE_DIR, "
                "XDG_CACHE_HOME, HOME nor the password file names a folder."),
            std::string::npos)
      << result.errors;
  EXPECT_NE(result.output.find("ready 2 compiles 2 hits 0 written 0 rejected 0"), std::string::npos)
      << result.output;
  EXPECT_FALSE(fs::exists("/.cache"));
}

// B109: the cache of root, mode 0700, met by another user.
TEST_F(Processes, B109ACacheOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(user({"use", "2"}).exit_code, 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const auto start = std::chrono::steady_clock::now();
  const SubprocessResult result = user({"use", "2", "12345"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.errors.find("cannot be used: Permission denied."), std::string::npos) << result.errors;
  EXPECT_NE(result.output.find("ready 2 compiles 2 hits 0 written 0 rejected 0"), std::string::npos)
      << result.output;
}

// B111: entries of one architecture under the names of another's are compiled again, not loaded.
TEST_F(Processes, B111RenamedEntries) {
  ASSERT_EQ(user({"use", "2"}).exit_code, 0);
  const auto items = disk_cache::list();
  ASSERT_EQ(items.size(), 2U);
  fs::rename(items[0].file, place() / "other");
  fs::copy_file(items[1].file, items[0].file);
  const SubprocessResult result = user({"use", "2"});
  EXPECT_TRUE(result.output.starts_with("ready 2 compiles 1 hits 1 written 1 rejected 1")) << result.output;
}

// The end of the process while threads compile: no crash, at most the rest of one compilation's wait.
TEST_F(Processes, EndWhileABackgroundThreadCompiles) {
  for (const int milliseconds : {0, 1, 30, 150, 400}) {
    const SubprocessResult result = user({"leave", std::to_string(milliseconds)});
    EXPECT_EQ(result.exit_code, 0) << milliseconds << " ms: " << result.errors;
    EXPECT_EQ(result.errors, "");
  }
}

}  // namespace
}  // namespace tessera
