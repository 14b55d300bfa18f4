#include "tile_core/base/env.h"

#include <functional>
#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"

namespace tessera {
namespace {

using test::ScopedVariable;

TEST(Env, UnsetAndEmptyGiveTheDefault) {
  for (const std::optional<std::string>& value :
       {std::optional<std::string>(), std::optional<std::string>("")}) {
    const ScopedVariable jit("TESSERA_JIT", value);
    const ScopedVariable policy("TESSERA_POLICY", value);
    const ScopedVariable limit("TESSERA_CACHE_MAX_MB", value);
    const ScopedVariable dump("TESSERA_DUMP", value);
    EXPECT_EQ(env::jit(), JitMode::block);
    EXPECT_EQ(env::policy(), Policy::automatic);
    EXPECT_EQ(env::cache_max_bytes(), 1024U << 20U);
    EXPECT_FALSE(env::dumps_anything());
  }
}

TEST(Env, ReadsEveryLegalWord) {
  const ScopedVariable background("TESSERA_JIT", "background");
  EXPECT_EQ(env::jit(), JitMode::background);
  const ScopedVariable off("TESSERA_JIT", "off");
  EXPECT_EQ(env::jit(), JitMode::off);
  const ScopedVariable tile("TESSERA_POLICY", "tile");
  EXPECT_EQ(env::policy(), Policy::tile);
  const ScopedVariable native("TESSERA_POLICY", "native");
  EXPECT_EQ(env::policy(), Policy::native);
  const ScopedVariable dump("TESSERA_DUMP", "cuda,sass");
  EXPECT_TRUE(env::dumps("cuda"));
  EXPECT_TRUE(env::dumps("sass"));
  EXPECT_FALSE(env::dumps("ptx"));
  const ScopedVariable limit("TESSERA_CACHE_MAX_MB", "3");
  EXPECT_EQ(env::cache_max_bytes(), 3U << 20U);
}

struct BadValue {
  const char* name;
  const char* value;
  const char* text;
  std::function<void()> read;
};

TEST(Env, BadValuesNameTheVariableTheValueAndTheLegalOnes) {
  const BadValue cases[] = {
      {"TESSERA_JIT", "fast",
       "TESSERA_JIT=fast is not legal: expected one of block, background, off; unset it for the default "
       "'block'",
       env::jit},
      {"TESSERA_POLICY", "Tile",
       "TESSERA_POLICY=Tile is not legal: expected one of auto, tile, native; unset it for the default "
       "'auto'",
       env::policy},
      {"TESSERA_DUMP", "cuda,asm",
       "TESSERA_DUMP=cuda,asm is not legal: expected a list, separated by commas, of pass, cuda, ptx, sass; "
       "unset it for "
       "the default ''",
       env::dumps_anything},
      {"TESSERA_DUMP", ",",
       "TESSERA_DUMP=, is not legal: expected a list, separated by commas, of pass, cuda, ptx, sass; unset "
       "it "
       "for the default ''",
       env::dumps_anything},
      {"TESSERA_CACHE_MAX_MB", "-1",
       "TESSERA_CACHE_MAX_MB=-1 is not legal: expected a whole number of megabytes from 0 to "
       "17592186044415; unset it for the default '1024'",
       env::cache_max_bytes},
      {"TESSERA_CACHE_MAX_MB", "99999999999999999999",
       "TESSERA_CACHE_MAX_MB=99999999999999999999 is not legal: expected a whole number of megabytes "
       "from 0 to 17592186044415; unset it for the default '1024'",
       env::cache_max_bytes},
  };
  for (const BadValue& bad : cases) {
    const ScopedVariable variable(bad.name, bad.value);
    try {
      bad.read();
      ADD_FAILURE() << bad.name << "=" << bad.value << " was accepted";
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(), bad.text);
    }
  }
}

TEST(Env, UnknownVariableIsWarnedOfOnceWithTheNearestName) {
  const log::Capture capture;
  const ScopedVariable typo("TESSERA_CACHEDIR", "/somewhere");
  env::warn_of_unknown();
  env::warn_of_unknown();
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_EQ(capture.lines()[0],
            "tessera: warning: TESSERA_CACHEDIR is not a variable of Tessera; the nearest is "
            "TESSERA_CACHE_DIR, `tessera "
            "env` lists all");
}

TEST(Env, TableShowsEveryVariableWithItsValue) {
  const ScopedVariable jit("TESSERA_JIT", "off");
  const ScopedVariable bad("TESSERA_POLICY", "fast");
  const std::string table = env::print_table();
  for (const env::Variable& variable : env::table()) {
    EXPECT_NE(table.find(variable.name), std::string::npos) << variable.name;
    EXPECT_NE(table.find(variable.meaning), std::string::npos) << variable.name;
  }
  EXPECT_NE(table.find("* off"), std::string::npos) << table;
  EXPECT_NE(table.find("* fast (not legal: expected one of auto, tile, native)"), std::string::npos) << table;
}

TEST(Env, CachedValueIsReadAgainAfterReload) {
  static int reads = 0;
  env::Cached<Policy> policy([] {
    ++reads;
    return env::policy();
  });
  const ScopedVariable tile("TESSERA_POLICY", "tile");
  reads = 0;
  EXPECT_EQ(policy.get(), Policy::tile);
  EXPECT_EQ(policy.get(), Policy::tile);
  EXPECT_EQ(reads, 1);
  const ScopedVariable native("TESSERA_POLICY", "native");
  EXPECT_EQ(policy.get(), Policy::native);
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace tessera
