#include "tests/support/mutation.h"
#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using test::Call;
using test::program;
using Values = std::vector<double>;

/// 2 * a as the program gives it under all its schedules, or what is wrong.
void expect_twice(const Program& p, const Call& call) {
  for (const InterpretOptions& options : test::schedules(p)) {
    std::vector<Values> tensors = test::outputs(p, call, options);
    for (double& value : tensors[0]) value *= 2;
    EXPECT_EQ(tensors[1], tensors[0]);
  }
}

TEST(Roles, PassSlotsAnyNumberOfTimes) {
  Program p = program("twice_roles");
  verify(p);
  for (std::int64_t K : {0, 7, 16, 32, 48, 49, 100}) expect_twice(p, {{{"M", 11}, {"K", K}}});
}

class RoledGemm : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Programs, RoledGemm, ::testing::Values("gemm_turns", "gemm_parts"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RoledGemm, IsTheTileProgramBitForBit) {
  Program p = program(GetParam());
  verify(p);
  for (std::int64_t K : {0, 5, 16, 31, 48, 64, 65, 129}) {
    Call call{{{"M", 150}, {"N", 45}, {"K", K}}};
    EXPECT_TRUE(test::same_result(program("gemm_tile"), p, call)) << "K = " << K;
  }
}

/// Rows of one pair of blocks and of two, the second block of a pair beyond the last tile or not.
TEST(Roles, BlocksOfAClusterShareCopies) {
  Program p = program("gemm_cluster");
  verify(p);
  for (std::int64_t M : {1, 64, 100, 128, 150}) {
    for (std::int64_t K : {0, 5, 16, 31, 48, 65}) {
      Call call{{{"M", M}, {"N", 20}, {"K", K}}};
      EXPECT_TRUE(test::same_result(program("gemm_tile"), p, call)) << "M = " << M << ", K = " << K;
    }
  }
}

TEST(Roles, DotsOfTwoIterationsOverlap) {
  Program p = program("chain_lag");
  verify(p);
  for (std::int64_t T : {0, 9, 32, 33, 64, 96, 150}) {
    Call call{{{"S", 75}, {"T", T}, {"D", 20}}};
    EXPECT_TRUE(test::same_result(program("chain_tile"), p, call)) << "T = " << T;
  }
}

struct Steps {
  std::string_view program;
  Call call;
  std::vector<std::string> redundant;
};

TEST(Roles, NoticeEveryMissingStep) {
  const Steps kPrograms[] = {
      {"twice_roles", {{{"M", 11}, {"K", 100}}}, {}},
      {"gemm_turns", {{{"M", 150}, {"N", 45}, {"K", 90}}}, {}},
      {"gemm_parts", {{{"M", 150}, {"N", 45}, {"K", 90}}}, {}},
      {"gemm_cluster", {{{"M", 150}, {"N", 20}, {"K", 90}}}, {}},
      // A block takes one tile, so q's slot is never acquired again: nobody waits for its release.
      {"chain_lag", {{{"S", 75}, {"T", 150}, {"D", 20}}}, {"without release %0 of line 92"}},
  };
  for (const auto& [name, call, redundant] : kPrograms) {
    Program p = program(name);
    std::vector<test::Change> changes = test::without_waits(p);
    for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
    EXPECT_EQ(test::unnoticed(changes, p, {call}), redundant) << name;
  }
}

}  // namespace
}  // namespace tessera
