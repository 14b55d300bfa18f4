#include "tile_core/base/log.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"

namespace tessera {
namespace {

using Lines = std::vector<std::string>;

TEST(Log, WarnsOncePerKey) {
  const log::Capture capture;
  log::warn_once("a", "first");
  log::warn_once("a", "second");
  log::warn_once("b", "third");
  EXPECT_EQ(capture.lines(), (Lines{"tessera: warning: first", "tessera: warning: third"}));
}

TEST(Log, InfoIsGatedByItsTopic) {
  const log::Capture capture;
  {
    const test::ScopedVariable channels("TESSERA_LOG", "compile,dispatch");
    log::info(log::Topic::dispatch, "shown");
    log::info(log::Topic::cache, "hidden");
    log::info(log::Topic::compile, "shown too");
  }
  log::info(log::Topic::dispatch, "hidden");
  EXPECT_EQ(capture.lines(), (Lines{"tessera: dispatch: shown", "tessera: compile: shown too"}));
}

TEST(Log, InfoOnceIsWrittenOncePerText) {
  const log::Capture capture;
  log::info_once(log::Topic::cache, "a");  // hidden: not seen
  const test::ScopedVariable channels("TESSERA_LOG", "cache");
  for (const char* text : {"a", "b", "a"}) log::info_once(log::Topic::cache, text);
  EXPECT_EQ(capture.lines(), (Lines{"tessera: cache: a", "tessera: cache: b"}));
}

TEST(Log, KeysSeenInACaptureDoNotCountAfterIt) {
  {
    const log::Capture first;
    log::warn_once("key of this test", "once");
  }
  const log::Capture second;
  log::warn_once("key of this test", "again");
  EXPECT_EQ(second.lines(), (Lines{"tessera: warning: again"}));
}

}  // namespace
}  // namespace tessera
