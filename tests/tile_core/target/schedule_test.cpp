#include "tile_core/target/schedule.h"

#include <gtest/gtest.h>
#include <limits>

namespace tessera {
namespace {

/// The names of the rules that a schedule breaks for a program without tensors.
std::vector<std::string> broken(const Schedule& schedule) {
  std::vector<std::string> names;
  for (const BrokenRule& rule : illegal({}, {}, schedule, Target::named("sm_90a")))
    names.push_back(rule.rule);
  return names;
}

using Names = std::vector<std::string>;

TEST(Schedule, RegistersBoundTheBlocksOfAMultiprocessor) {
  EXPECT_EQ(broken({.warps = 32, .blocks = 4}), Names());
  EXPECT_EQ(broken({.warps = 32, .blocks = 5}), Names{"blocks fit the registers"});
  EXPECT_EQ(broken({.blocks = 16}), Names());
}

TEST(Schedule, NumbersOfAnySizeAreJudged) {
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(broken({.warps = 1 << 30, .blocks = 1 << 30}),
            (Names{"warps", "blocks", "blocks fit the registers"}));
  EXPECT_EQ(broken({.warps = kMost, .blocks = kMost}),
            (Names{"warps", "blocks", "blocks fit the registers"}));
  EXPECT_EQ(broken({.warps = -8, .blocks = -kMost}), (Names{"warps", "blocks"}));
}

}  // namespace
}  // namespace tessera
