#include <gtest/gtest.h>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/target/schedule_fields.h"

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

TEST(Schedule, GroupsTakeRegistersToo) {
  EXPECT_EQ(broken({.blocks = 10, .groups = 2}), Names());
  EXPECT_EQ(broken({.blocks = 11, .groups = 2}), Names{"blocks fit the registers"});
  EXPECT_EQ(broken({.blocks = 16, .groups = 1}), Names());
  EXPECT_EQ(broken({.blocks = 11, .share = Share::alternate}), Names{"blocks fit the registers"});
  EXPECT_EQ(illegal({}, {}, {.blocks = 11, .groups = 2}, Target::named("sm_90a")).front().sentence,
            "11 blocks of 12 warps leave less than 16 registers a thread of sm_90a's 65536");
}

TEST(Schedule, TurnsAreOfLaggingDotsOfSeveralGroups) {
  const auto sentence = [](const Schedule& schedule) {
    const std::vector<BrokenRule> rules = broken_fields(schedule);
    return rules.empty() ? "" : rules.front().sentence;
  };
  EXPECT_EQ(sentence({.groups = 2, .share = Share::turns}), "");
  EXPECT_EQ(sentence({.share = Share::turns}), "");
  EXPECT_EQ(sentence({.share = Share::turns, .lag = Lag::none}),
            "share is turns, and lag is none: no dot trails another");
  EXPECT_EQ(sentence({.groups = 1, .share = Share::turns}),
            "share is turns, and one group has none to take turns with");
}

TEST(Schedule, FieldsAreJudgedByThemselves) {
  const auto sentences = [](const Schedule& schedule) {
    std::vector<std::string> all;
    for (const BrokenRule& rule : broken_fields(schedule)) all.push_back(rule.sentence);
    return all;
  };
  EXPECT_EQ(sentences({}), Names());
  EXPECT_EQ(sentences({.warps = 32, .blocks = 5}), Names());  // a target's registers say no
  EXPECT_EQ(sentences({.warps = 3, .vector = 7}),
            (Names{"warps is 3, and must be a power of two up to 32 or automatic",
                   "vector is 7 bytes, and must be 1, 2, 4, 8, 16 or automatic"}));
}

TEST(Schedule, NumbersOfAnySizeAreJudged) {
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(broken({.warps = 1 << 30, .blocks = 1 << 30}),
            (Names{"warps", "blocks", "warps fit a block", "blocks fit the registers"}));
  EXPECT_EQ(broken({.warps = kMost, .blocks = kMost}),
            (Names{"warps", "blocks", "warps fit a block", "blocks fit the registers"}));
  EXPECT_EQ(broken({.warps = -8, .blocks = -kMost}), (Names{"warps", "blocks"}));
}

TEST(Schedule, TheOrderOfTilesIsOfAPersistentGridAndOne) {
  EXPECT_EQ(broken({.order = TileOrder::longest}), Names());
  EXPECT_EQ(broken({.raster = 4, .order = TileOrder::plain}), Names());
  EXPECT_EQ(broken({.grid = Grid::once, .order = TileOrder::longest}),
            Names{"longest tiles first is an order of a persistent grid"});
  EXPECT_EQ(broken({.raster = 4, .order = TileOrder::longest}), Names{"one order of tiles"});
  EXPECT_EQ(
      illegal({}, {}, {.raster = 4, .order = TileOrder::longest}, Target::named("sm_90a")).front().sentence,
      "order is longest, and raster is 4: each orders the tiles");
}

TEST(Schedule, AClusterIsOfTwoBlocks) {
  EXPECT_EQ(to_text(schedule_from_text("stages=6 groups=2 cluster=2 share=alternate")),
            "stages=6 groups=2 cluster=2 share=alternate");
  EXPECT_EQ(broken({.cluster = 1}), Names());
  EXPECT_EQ(broken({.cluster = 2}), Names());
  EXPECT_EQ(broken_fields({.cluster = 3}).front().sentence, "cluster is 3, and must be 1 to 2 or automatic");
}

TEST(Schedule, ACounterIsOfBlocksThatAreAlone) {
  EXPECT_EQ(to_text(schedule_from_text("stages=2 groups=3 grid=counter order=longest")),
            "stages=2 groups=3 grid=counter order=longest");
  EXPECT_EQ(broken({.grid = Grid::counter}), Names());
  EXPECT_EQ(broken({.grid = Grid::counter, .raster = 4}), Names());
  EXPECT_EQ(broken_fields({.grid = Grid::counter, .cluster = 2}).front().sentence,
            "cluster is 2, and grid=counter has each block draw a tile of its own");
}

TEST(Schedule, TheOrderOfTilesHasAText) {
  for (const char* text :
       {"order=plain", "order=longest", "stages=2 share=turns grid=persistent order=longest"})
    EXPECT_EQ(to_text(schedule_from_text(text)), text);
  EXPECT_EQ(schedule_from_text("order=automatic"), Schedule{});
  try {
    schedule_from_text("order=shortest");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "schedule 'order=shortest': expected 'automatic' or fields stages=, warps=, blocks=, vector=, "
        "groups=, raster=, cluster= with numbers, share=together|turns|alternate, lag=none|one, "
        "grid=once|persistent|counter, order=plain|longest, but got 'order=shortest'");
  }
}

}  // namespace
}  // namespace tessera
