#include "tile_core/runtime/disk_cache.h"

#include <chrono>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tile_core/runtime/cache_fixture.h"
#include "tests/tile_core/runtime/fake_cubin.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using test::fake_cubin;
using Lines = std::vector<std::string>;

class DiskCache : public test::CacheTest {
 protected:
  fs::path kernels() const { return place() / fmt::format("kernels-{}", version()); }
  fs::path entry(const Cubin& cubin) const { return kernels() / (cubin.key + ".kernel"); }
};

int mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return static_cast<int>(status.st_mode & 07777U);
}

TEST_F(DiskCache, ReadsWhatWasWritten) {
  const Cubin cubin = fake_cubin("add");
  EXPECT_FALSE(disk_cache::read(cubin.key));
  EXPECT_FALSE(fs::exists(place())) << "reading made a folder";
  disk_cache::write(cubin);
  const auto read = disk_cache::read(cubin.key);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->image, cubin.image);
  const disk_cache::Statistics statistics = disk_cache::statistics();
  EXPECT_EQ(statistics.hits, 1U);
  EXPECT_EQ(statistics.misses, 1U);
  EXPECT_EQ(statistics.written, 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(kernels()), {}), 1) << "something else was left behind";
  EXPECT_TRUE(warnings().empty());
}

TEST_F(DiskCache, BadEntriesAreMissesAndAreReplaced) {
  const Cubin cubin = fake_cubin("add");
  disk_cache::write(cubin);
  const std::string good = test::read_file(entry(cubin));
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), "junk" + good, good + "x"}) {
    test::write_file(entry(cubin), bad);
    EXPECT_FALSE(disk_cache::read(cubin.key));
    disk_cache::write(cubin);
    EXPECT_TRUE(disk_cache::read(cubin.key));
  }
  EXPECT_EQ(disk_cache::statistics().rejected, 4U);
}

// B116: nobody else may enter or plant a kernel.
TEST_F(DiskCache, B116FoldersAndFilesAreTheOwnersAlone) {
  const mode_t old = ::umask(0);
  set("TESSERA_CACHE_DIR", place() / "a" / "b");
  disk_cache::write(fake_cubin("add"));
  ::umask(old);
  const fs::path versioned = place() / "a" / "b" / kernels().filename();
  for (const fs::path& made : {place(), place() / "a", place() / "a" / "b", versioned})
    EXPECT_EQ(mode_of(made), 0700) << made;
  EXPECT_EQ(mode_of(versioned / entry(fake_cubin("add")).filename()), 0600);
}

TEST_F(DiskCache, B116OurFolderThatIsOpenToOthersIsClosed) {
  disk_cache::write(fake_cubin("add"));
  ASSERT_EQ(::chmod(kernels().c_str(), 0777), 0);
  EXPECT_TRUE(disk_cache::read(fake_cubin("add").key));
  EXPECT_EQ(mode_of(kernels()), 0700);
}

TEST_F(DiskCache, B116LinksAreReplacedNotFollowed) {
  const Cubin cubin = fake_cubin("add");
  disk_cache::write(cubin);
  const fs::path target = folder_ / "target";
  fs::rename(entry(cubin), target);
  const std::string before = test::read_file(target);
  fs::create_symlink(target, entry(cubin));
  EXPECT_FALSE(disk_cache::read(cubin.key)) << "a link was read";
  Cubin other = cubin;
  other.image += "other";
  disk_cache::write(other);
  EXPECT_EQ(test::read_file(target), before) << "a link was written through";
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(entry(cubin))));
  EXPECT_EQ(disk_cache::read(cubin.key)->image, other.image);
}

class ForeignOwner : public DiskCache {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  }
  static void give_away(const fs::path& path) { ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0) << path; }

  void expect_memory_only() {
    const Cubin cubin = fake_cubin("linear");
    disk_cache::write(cubin);
    disk_cache::write(cubin);
    EXPECT_FALSE(disk_cache::read(cubin.key));
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_EQ(
        warnings()[0],
        fmt::format(
            "tessera: warning: the kernel cache in {} cannot be used: it belongs to user 12345, not to 0. "
            "Kernels are kept in memory only and compiled again by the next process; TESSERA_CACHE_DIR names "
            "another folder",
            place().string()));
  }
};

// B109: a folder of another user, the whole cache or only this version's part.
TEST_F(ForeignOwner, B109FolderIsRefused) {
  ASSERT_TRUE(fs::create_directory(place()));
  give_away(place());
  expect_memory_only();
}

TEST_F(ForeignOwner, B109VersionsFolderIsRefused) {
  ASSERT_TRUE(fs::create_directories(kernels()));
  give_away(kernels());
  expect_memory_only();
}

// B116: a kernel that another user wrote is not run.
TEST_F(ForeignOwner, B116EntryIsNotTrusted) {
  const Cubin cubin = fake_cubin("add");
  disk_cache::write(cubin);
  give_away(entry(cubin));
  EXPECT_FALSE(disk_cache::read(cubin.key));
  disk_cache::write(cubin);
  EXPECT_TRUE(disk_cache::read(cubin.key));
}

// A place without room: RLIMIT_FSIZE fails in the same call as a full disk, with EFBIG for ENOSPC.
TEST_F(DiskCache, FullPlaceGivesOneWarningAndLeavesNothing) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 50, .rlim_max = old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  disk_cache::write(fake_cubin("add"));
  disk_cache::write(fake_cubin("linear"));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("cannot be used: File too large."), std::string::npos) << warnings()[0];
  EXPECT_TRUE(fs::is_empty(kernels()));
}

// B107: places that cannot be written: one warning, and the process goes on without.
TEST_F(DiskCache, B107PlacesThatCannotBeMadeGiveOneWarningEach) {
  test::write_file(folder_ / "file", "");
  const std::string places[] = {folder_ / "file", folder_ / "file" / "below", "/proc/tessera", "/sys/tessera",
                                folder_ / std::string(300, 'n')};
  std::size_t expected = 0;
  for (const std::string& bad : places) {
    set("TESSERA_CACHE_DIR", bad);
    disk_cache::write(fake_cubin("add"));
    disk_cache::write(fake_cubin("linear"));
    EXPECT_FALSE(disk_cache::read(fake_cubin("add").key));
    ASSERT_EQ(warnings().size(), ++expected) << bad;
    EXPECT_NE(warnings().back().find("the kernel cache in " + bad + " cannot be used: "), std::string::npos)
        << warnings().back();
  }
}

TEST_F(DiskCache, B107MissingParentsAreMade) {
  set("TESSERA_CACHE_DIR", place() / "a" / "b" / "c" / "d");
  disk_cache::write(fake_cubin("add"));
  EXPECT_TRUE(disk_cache::read(fake_cubin("add").key));
}

// B115: any path is fine.
TEST_F(DiskCache, B115OddPaths) {
  for (const std::string& odd :
       {std::string("with space"), std::string("'single' \"double\" $HOME `x` ;&|"),
        std::string("\xc3\xbc\xe6\xbc\xa2\xf0\x9f\x98\x80"), std::string("new\nline"), std::string(220, 'n'),
        std::string("-rf"), std::string("trailing/")}) {
    set("TESSERA_CACHE_DIR", place() / odd);
    disk_cache::write(fake_cubin("add"));
    EXPECT_TRUE(disk_cache::read(fake_cubin("add").key)) << odd;
  }
  EXPECT_TRUE(warnings().empty());
}

TEST_F(DiskCache, B115RelativePathStaysWhereItWasFirstUsed) {
  const fs::path old = fs::current_path();
  fs::create_directory(folder_ / "first");
  fs::create_directory(folder_ / "second");
  set("TESSERA_CACHE_DIR", "relative/cache of this test");
  fs::current_path(folder_ / "first");
  disk_cache::write(fake_cubin("add"));
  fs::current_path(folder_ / "second");
  EXPECT_TRUE(disk_cache::read(fake_cubin("add").key));
  disk_cache::write(fake_cubin("linear"));
  fs::current_path(old);
  EXPECT_TRUE(fs::is_empty(folder_ / "second"));
}

TEST_F(DiskCache, SizeLimitDropsTheLeastRecentlyUsed) {
  set("TESSERA_CACHE_MAX_MB", "1");
  constexpr std::size_t kThird = 330'000;
  const auto age = [&](const Cubin& cubin, int hours) {
    fs::last_write_time(entry(cubin), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  const Cubin a = fake_cubin("a", kThird), b = fake_cubin("b", kThird), c = fake_cubin("c", kThird);
  for (const Cubin* cubin : {&a, &b, &c}) disk_cache::write(*cubin);
  age(a, 3);
  age(b, 2);
  age(c, 1);
  ASSERT_TRUE(disk_cache::read(a.key));  // used: b is the oldest now
  disk_cache::write(fake_cubin("d", kThird));
  EXPECT_EQ(disk_cache::statistics().dropped, 1U);
  EXPECT_TRUE(fs::exists(entry(a)));
  EXPECT_FALSE(fs::exists(entry(b)));
  EXPECT_TRUE(fs::exists(entry(c)));
}

TEST_F(DiskCache, WhatItDoesIsLogged) {
  const Cubin add = fake_cubin("add");
  const auto line = [&](const char* what, const Cubin& cubin) {
    return fmt::format("tessera: cache: {}: {}", what, entry(cubin).string());
  };
  const auto size = [&](const Cubin& cubin) { return fs::file_size(entry(cubin)); };
  disk_cache::read(add.key);  // nobody asked for lines
  ASSERT_EQ(warnings(), Lines{});
  set("TESSERA_LOG", "cache");
  Lines expected = {line("miss", add)};
  disk_cache::read(add.key);
  disk_cache::write(add);
  expected.push_back(fmt::format("{}, {} bytes: kernel add for sm_90a", line("written", add), size(add)));
  disk_cache::read(add.key);
  expected.push_back(fmt::format("{}, {} bytes: kernel add for sm_90a", line("hit", add), size(add)));
  EXPECT_EQ(warnings(), expected);

  test::write_file(entry(add), "junk");
  disk_cache::read(add.key);
  expected.push_back(line("rejected", add) + " is cut short (4 bytes); compiling again");
  expected.push_back(line("miss", add));
  EXPECT_EQ(warnings(), expected);
}

TEST_F(DiskCache, WhatItDropsIsLogged) {
  const Cubin cubin = fake_cubin("add");
  disk_cache::write(cubin);
  const auto bytes = fs::file_size(entry(cubin));
  set("TESSERA_LOG", "cache");
  set("TESSERA_CACHE_MAX_MB", "0");
  disk_cache::write(cubin);
  ASSERT_EQ(warnings().size(), 2U);
  EXPECT_EQ(warnings()[1], fmt::format("tessera: cache: dropped: {}, {} bytes: the cache held {}, above "
                                       "TESSERA_CACHE_MAX_MB=0",
                                       entry(cubin).string(), bytes, bytes));
}

TEST_F(DiskCache, WhatKilledProcessesLeftIsRemovedAfterAnHour) {
  disk_cache::write(fake_cubin("add"));
  const fs::path fresh = kernels() / ".unfinished-1-a", stale = kernels() / ".unfinished-2-b",
                 theirs = kernels() / "notes";
  for (const fs::path& file : {fresh, stale, theirs}) test::write_file(file, "x");
  for (const fs::path& file : {stale, theirs}) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  disk_cache::write(fake_cubin("linear"));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(theirs));
}

TEST_F(DiskCache, ListVerifyAndClear) {
  const Cubin good = fake_cubin("add"), bad = fake_cubin("linear");
  disk_cache::write(good);
  disk_cache::write(bad);
  test::write_file(entry(bad), "junk");
  test::write_file(kernels() / "notes", "the user's");
  std::map<std::string, std::string> found;
  for (const disk_cache::Item& item : disk_cache::list()) {
    EXPECT_EQ(item.version, version());
    found[item.kernel] = item.problem;
  }
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"", "is cut short (4 bytes)"}, {"add", ""}}));

  const auto removed = disk_cache::verify();
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].file, entry(bad));
  EXPECT_FALSE(fs::exists(entry(bad)));
  EXPECT_EQ(disk_cache::clear(), 1U);
  EXPECT_TRUE(disk_cache::list().empty());
  EXPECT_EQ(test::read_file(kernels() / "notes"), "the user's");
}

TEST_F(DiskCache, TheFolderMayVanishBetweenTwoKernels) {
  disk_cache::write(fake_cubin("add"));
  fs::remove_all(place());
  EXPECT_FALSE(disk_cache::read(fake_cubin("add").key));
  disk_cache::write(fake_cubin("add"));
  EXPECT_TRUE(disk_cache::read(fake_cubin("add").key));
  EXPECT_TRUE(warnings().empty());
}

}  // namespace
}  // namespace tessera
