#include "tile_core/runtime/background.h"

#include <cstdlib>
#include <future>
#include <gtest/gtest.h>
#include <system_error>

#include "tests/tile_core/runtime/no_memory.h"

namespace tessera {
namespace {

std::future<int> submit_one(int value) {
  auto done = std::make_shared<std::promise<int>>();
  std::future<int> result = done->get_future();
  background::submit([done, value] { done->set_value(value); });
  return result;
}

TEST(Background, EveryJobRuns) {
  std::vector<std::future<int>> results;
  for (int i = 0; i < 20; ++i) results.push_back(submit_one(i));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i);
}

// In a process that has started none yet.
TEST(BackgroundDeathTest, AThreadThatCannotBeStartedIsAnErrorAndLeavesNoJob) {
  const auto submit_without_memory = [] {
    bool refused = false;
    bool ran = false;
    {
      const test::NoMemoryForThreads limit;
      try {
        background::submit([&] { ran = true; });
      } catch (const std::system_error&) {
        refused = true;
      }
    }
    std::_Exit(refused && submit_one(7).get() == 7 && !ran ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(submit_without_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera
