#include "examples/attention_masks.h"

#include <fmt/format.h>
#include <map>

#include "tests/support/emulated_result.h"

// The programs of the example: what a window visits, and that each compiles to what the interpreter gives.
namespace examples {
namespace {

constexpr std::int64_t kRows = 64, kKeys = 64;  // of a tile

test::Call call_of(std::int64_t I, std::int64_t J, std::int64_t D, double window) {
  return {{{"B", 1}, {"H", 2}, {"I", I}, {"J", J}, {"D", D}}, {{"window", window}, {"cap", 1.5}}};
}

/// Of every block, the first key of each tile that it visits.
std::map<std::int64_t, std::vector<std::int64_t>> visits(const Program& program, const test::Call& call) {
  std::map<std::int64_t, std::vector<std::int64_t>> starts;
  const auto observer = [&](const Executed& executed) {
    if (std::holds_alternative<Loop>(executed.inst.op))
      starts[executed.block].push_back(executed.starts.front());
  };
  test::outputs(program, call, {.observer = observer});
  return starts;
}

TEST(SlidingWindow, VisitsNoTileOfKeysThatNoRowSees) {
  const Program program = attention(f32, sliding_window);
  for (const auto& [I, J] : {std::pair<std::int64_t, std::int64_t>{200, 200}, {65, 300}, {300, 70}, {1, 1}}) {
    for (const std::int64_t window : {1, 3, 64, 65, 1000}) {
      const auto starts = visits(program, call_of(I, J, 3, static_cast<double>(window)));
      std::int64_t block = 0, all = 0;
      for (int head = 0; head < 2; ++head) {
        for (std::int64_t first = 0; first < I; first += kRows, ++block) {
          const std::int64_t last = std::min(first + kRows, I) - 1;
          std::vector<std::int64_t> expected;
          for (std::int64_t j = std::max<std::int64_t>(first - window + 1, 0); j < std::min(last + 1, J);
               j += kKeys)
            expected.push_back(j);
          const auto found = starts.find(block);
          EXPECT_EQ(found == starts.end() ? std::vector<std::int64_t>() : found->second, expected)
              << I << "x" << J << " window " << window << " block " << block;
          all += static_cast<std::int64_t>(expected.size());
        }
      }
      if (I == 200 && window == 3) {
        EXPECT_EQ(all, 2 * (1 + 2 + 2 + 1)) << "of 32 tiles";
      }
    }
  }
}

TEST(SlidingWindow, OtherLinesVisitEveryTile) {
  for (const Line line : {alibi, soft_cap}) {
    for (const auto& [block, starts] : visits(attention(f32, line), call_of(70, 130, 3, 0)))
      EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 64, 128})) << block;
  }
}

class AttentionMasks : public ::testing::TestWithParam<Line> {};

TEST_P(AttentionMasks, CompileToWhatTheInterpreterGives) {
  for (const DType dtype : {f32, f16}) {
    for (const char* arch : {"sm_80", "sm_90a"}) {
      const test::Setting setting{.target = Target::named(arch)};
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), arch));
      EXPECT_TRUE(test::emulates(attention(dtype, GetParam()), call_of(130, 150, 40, 20), setting,
                                 dtype == f32 ? 0x1p-18 : 0x1p-8));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, AttentionMasks, ::testing::Values(sliding_window, alibi, soft_cap));

}  // namespace
}  // namespace examples
