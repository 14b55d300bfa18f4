#include <algorithm>
#include <gtest/gtest.h>

#include "tests/fuzz/check_program.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/renamed.h"
#include "tests/support/mutation.h"
#include "tile_core/ir/print.h"

namespace tessera::fuzz {
namespace {

/// The standard's numbers of mt19937_64, by their remainders.
TEST(Choices, AreTheSameOnEveryMachine) {
  Choices choices(5489);
  std::vector<int> numbers(10);
  for (int& number : numbers) number = choices.below(1000);
  EXPECT_EQ(numbers, (std::vector<int>{30, 908, 720, 322, 596, 998, 529, 878, 556, 402}));
}

TEST(Choices, AreReplayed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Choices drawn(seed);
    const std::string text = to_text(random_program(drawn).program);
    Choices replayed(drawn.made());
    EXPECT_EQ(to_text(random_program(replayed).program), text) << seed;
    EXPECT_EQ(replayed.made(), drawn.made()) << seed;
  }
}

TEST(Choices, OfAnEmptyListAreTheSimplest) {
  Choices none((std::vector<int>()));
  EXPECT_EQ(none.below(7), 0);
  EXPECT_FALSE(none.chance(99));
  EXPECT_EQ(none.shuffled(std::vector<int>{1, 2, 3}), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(none.made(), std::vector<int>());
}

TEST(Shrink, FindsTheSimplestThatFailsInTheSameWay) {
  const Check check = [](Choices& c, Counts&) -> std::optional<Failure> {
    int large = 0;
    for (int i = 0; i < 50; ++i) large += c.below(1000) > 600 ? 1 : 0;
    if (large >= 2) return Failure{"two", "", ""};
    if (large == 1) return Failure{"one", "", ""};
    return std::nullopt;
  };
  Choices choices(1);
  Counts counts;
  std::optional<Failure> failure = check(choices, counts);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "two");
  EXPECT_EQ(shrink(choices.made(), *failure, check, std::chrono::seconds(60)).choices,
            (std::vector<int>{601, 601}));
}

TEST(Renaming, IsUndoneInTexts) {
  Choices choices(3);
  const Program program = random_program(choices).program;
  const Renaming renaming(program);
  EXPECT_EQ(to_text(renaming.program()).find("D0"), std::string::npos);
  EXPECT_EQ(renaming.undone(to_text(renaming.program())), to_text(program));
}

/// A lowering whose mask_tails loses a mask.
Program without_a_mask(const Program& program, const PassContext& context,
                       const std::function<void(const Pass&, const Program&)>& after) {
  return lower(program, context, [&](const Pass& pass, const Program& p) {
    if (std::string_view(pass.name) != "mask_tails") return after(pass, p);
    const std::vector<test::Change> changes = test::without_masks(p);
    after(pass, changes.empty() ? p : changes.front().program);
  });
}

TEST(Programs, ThatAPassSpoilsAreFoundAndShrink) {
  const ProgramDepth broken{.lowering = without_a_mask};
  const Check check = [&](Choices& choices, Counts& counts) {
    return check_program(choices, broken, counts);
  };
  Counts counts;
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    Choices choices(seed);
    std::optional<Failure> failure = check(choices, counts);
    if (!failure) continue;
    EXPECT_EQ(failure->kind, "values: mask_tails");
    const Shrunk shrunk = shrink(choices.made(), *failure, check, std::chrono::seconds(20));
    EXPECT_EQ(shrunk.failure.kind, "values: mask_tails");
    EXPECT_LT(shrunk.choices.size(), choices.made().size());
    EXPECT_LT(shrunk.failure.text.size(), failure->text.size());
    return;
  }
  FAIL() << "no program noticed that a mask is missing";
}

/// The forms that only some programs and schedules reach are reached.
TEST(Programs, ReachRolesAndTheirSchedules) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Choices choices(seed);
    const std::optional<Failure> failure = check_program(choices, {}, counts);
    EXPECT_FALSE(failure) << seed << ": " << failure->kind << ": " << failure->details << "\n"
                          << failure->text;
  }
  for (const char* what : {"with roles", "with clusters", "with turns", "with alternate groups",
                           "with a persistent grid", "with a tile counter"})
    EXPECT_GT(counts[what], 0) << what;
}

}  // namespace
}  // namespace tessera::fuzz
