#include "tile_core/runtime/cache_folder.h"

#include <pwd.h>
#include <unistd.h>

#include "tests/tile_core/runtime/cache_fixture.h"

namespace tessera {
namespace {

class CacheFolder : public test::CacheTest {
 protected:
  CacheFolder() { set("TESSERA_CACHE_DIR", std::nullopt); }
};

TEST_F(CacheFolder, VariableThenXdgThenHome) {
  set("HOME", "/home/ada");
  set("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(cache_place().path, "/home/ada/.cache/tessera");
  set("XDG_CACHE_HOME", "/scratch");
  EXPECT_EQ(cache_place().path, "/scratch/tessera");
  set("TESSERA_CACHE_DIR", "/fast/kernels");
  EXPECT_EQ(cache_place().path, "/fast/kernels");
}

// B108: empty is unset, and a relative XDG folder does not count.
TEST_F(CacheFolder, B108EmptyAndRelativeValuesFallThrough) {
  set("HOME", "/home/ada");
  for (const char* value : {"", "relative"}) {
    set("XDG_CACHE_HOME", value);
    EXPECT_EQ(cache_place().path, "/home/ada/.cache/tessera") << value;
  }
  set("TESSERA_CACHE_DIR", "");
  EXPECT_EQ(cache_place().path, "/home/ada/.cache/tessera");
}

TEST_F(CacheFolder, B108WithoutHomeThePasswordFileSays) {
  set("XDG_CACHE_HOME", std::nullopt);
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr) GTEST_SKIP() << "this user has no entry";
  for (const std::optional<std::string>& value :
       {std::optional<std::string>(), std::optional<std::string>("")}) {
    set("HOME", value);
    EXPECT_EQ(cache_place().path, std::string(user->pw_dir) + "/.cache/tessera");
  }
}

}  // namespace
}  // namespace tessera
