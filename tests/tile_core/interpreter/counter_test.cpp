#include <set>

#include "tests/support/mutation.h"
#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using test::Call;
using test::program;

/// 3 x 2 tiles of few steps and of many, whichever block draws them.
TEST(Counter, GivesEveryTileOnce) {
  Program p = program("gemm_counter");
  verify(p);
  for (std::int64_t K : {0, 5, 16, 64, 129}) {
    Call call{{{"M", 300}, {"N", 45}, {"K", K}}};
    EXPECT_TRUE(test::same_result(program("gemm_tile"), p, call)) << "K = " << K;
  }
}

/// The blocks that begin an iteration over tiles, in their order, as the first role does.
std::vector<std::int64_t> blocks_of_tiles(const Program& p, const Call& call, InterpretOptions options) {
  std::vector<std::int64_t> blocks;
  options.observer = [&](const Executed& executed) {
    const Loop* loop = std::get_if<Loop>(&executed.inst.op);
    if (loop != nullptr && loop->draws_its_starts() && executed.role->elected)
      blocks.push_back(executed.block);
  };
  test::outputs(p, call, options);
  return blocks;
}

/// Blocks whose order is random draw several tiles each, and one alone all of them.
TEST(Counter, BlocksDrawInTheOrderInWhichTheyRun) {
  const Program p = program("gemm_counter");
  const Call call{{{"M", 600}, {"N", 90}, {"K", 16}}};
  std::set<std::vector<std::int64_t>> orders;
  for (unsigned seed : {1U, 2U, 3U, 4U}) {
    const auto blocks = blocks_of_tiles(p, call, {.order = Order::random, .seed = seed, .blocks = 3});
    EXPECT_EQ(blocks.size(), 15U);
    for (std::int64_t block : {0, 1, 2}) EXPECT_GE(std::count(blocks.begin(), blocks.end(), block), 2);
    orders.insert(blocks);
  }
  EXPECT_GT(orders.size(), 1U);
  EXPECT_EQ(blocks_of_tiles(p, call, {.blocks = 1}), std::vector<std::int64_t>(15, 0));
}

/// Fewer tiles than blocks fit, as many, and one more.
TEST(Counter, EndsAtZeroWhateverTheNumberOfTiles) {
  const Program p = program("gemm_counter");
  for (std::int64_t M : {1, 129, 257, 385}) {
    for (std::int64_t resident : {1, 2, 3}) {
      const Call call{{{"M", M}, {"N", 20}, {"K", 40}}};
      EXPECT_EQ(test::outputs(p, call, {.blocks = resident}), test::outputs(program("gemm_tile"), call));
    }
  }
}

TEST(Counter, NoticesEveryMissingStep) {
  const Program p = program("gemm_counter");
  std::vector<test::Change> changes = test::without_waits(p);
  for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  EXPECT_EQ(test::unnoticed(changes, p, {{{{"M", 600}, {"N", 45}, {"K", 90}}}}), std::vector<std::string>());
}

TEST(Counter, LeftBehindIsAnError) {
  const Program p = test::changed("gemm_counter", "draw_tile %23", "draw_tile %14");
  try {
    test::outputs(p, {{{"M", 300}, {"N", 45}, {"K", 16}}});
    ADD_FAILURE() << "no error";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal tessera error: interpreter: gemm: the launch ends, but its counter is 6");
  }
}

}  // namespace
}  // namespace tessera
