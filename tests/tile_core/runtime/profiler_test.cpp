#include "tile_core/runtime/profiler.h"

#include <gtest/gtest.h>
#include <vector>

namespace tessera {
namespace {

std::vector<std::string>& events() {
  static std::vector<std::string> all;
  return all;
}

TEST(Profiler, TheHookSeesEveryRange) {
  profiler::install({.begin = [](const char* name) -> void* {
                       events().push_back(std::string("begin ") + name);
                       return &events();
                     },
                     .end =
                         [](void* token) {
                           EXPECT_EQ(token, &events());
                           events().emplace_back("end");
                         }});
  {
    const profiler::Range outer("outer");
    const profiler::Range inner("inner");
  }
  profiler::install({});
  { const profiler::Range unseen("unseen"); }
  EXPECT_EQ(events(), (std::vector<std::string>{"begin outer", "begin inner", "end", "end"}));
}

}  // namespace
}  // namespace tessera
