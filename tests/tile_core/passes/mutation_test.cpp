#include "tests/support/mutation.h"

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using test::Call;
using test::Case;
using test::Setting;

class Mutated : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, Mutated, ::testing::ValuesIn(test::all_cases()),
                         [](const auto& info) { return info.param.name; });

Program lowered(const Case& c, const Schedule& schedule) {
  Setting setting{.schedule = schedule};
  return lower(c.program, {test::facts_of(c.program, c.calls.front(), setting), schedule, setting.target});
}

/// The first call with every loop, one at a time, running 0, 1, 2, slots and slots + 1 times.
std::vector<Call> trip_counts(const Case& c, int slots) {
  std::vector<Call> calls = {c.calls.front()};
  for (const AxisInfo& axis : c.program.axes) {
    if (axis.kind != AxisKind::loop) continue;
    for (int trips : {0, 1, 2, slots, slots + 1}) {
      calls.push_back(c.calls.front());
      calls.back().dims[c.program.dim(axis.dim).name] = trips * axis.extent;
    }
  }
  return calls;
}

TEST_P(Mutated, EveryWaitAndBarrierIsNeeded) {
  const Case& c = GetParam();
  for (int stages : {1, 2, 3, 4}) {
    Program p = lowered(c, {.stages = stages});
    EXPECT_EQ(test::unnoticed(test::without_waits(p), p, trip_counts(c, stages)), std::vector<std::string>())
        << stages << " stages";
  }
}

/// Of blocks that share copies: those of one pair, and of several.
TEST(MutatedCluster, EveryStepIsNeeded) {
  Case c = test::named_case("roles_linear_gelu");
  c.calls.front().dims = {{"M", 300}, {"N", 136}, {"K", 264}};
  Program p = lowered(c, {.stages = 2, .cluster = 2});
  std::vector<test::Change> changes = test::without_waits(p);
  for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  EXPECT_EQ(test::unnoticed(changes, p, {c.calls.front()}), std::vector<std::string>());
}

/// Of slices that the copy engine adds to an output.
TEST(MutatedSums, EveryStepIsNeeded) {
  const Case c = test::named_case("roles_split_dot");
  Program p = lowered(c, {.stages = 2});
  std::vector<test::Change> changes = test::without_waits(p);
  for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  EXPECT_EQ(test::unnoticed(changes, p, {c.calls.front()}), std::vector<std::string>());
}

/// Of groups that stop at the end of their own rows, whose turns go on.
TEST(MutatedGroups, EveryStepIsNeeded) {
  Case c = test::named_case("roles_attention_causal");
  for (Share share : {Share::together, Share::turns}) {
    c.calls.front().dims["I"] = 300;
    Program p = lowered(c, {.stages = 2, .share = share});
    std::vector<test::Change> changes = test::without_waits(p);
    for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
    EXPECT_EQ(test::unnoticed(changes, p, {c.calls.front()}), std::vector<std::string>());
  }
}

/// The calls with inputs on which a lane that should not be seen shows: all of one sign, products all
/// negative, weights that overflow, an infinity.
std::vector<Call> telling(const Case& c) {
  std::vector<Call> calls = c.calls;
  for (Call call : c.calls) {
    for (double mean : {-200.0, 200.0, 5.0}) {
      for (bool alternating : {false, true}) {
        for (int infinite = -1; infinite < static_cast<int>(c.program.tensors.size()); ++infinite) {
          call.mean = mean;
          call.alternating = alternating;
          call.infinite = infinite;
          calls.push_back(call);
        }
      }
    }
  }
  return calls;
}

/// How many masks no input can show, and why.
const std::map<std::string, std::size_t> kRedundantMasks = {
    // A boolean mask is loaded as false beyond j, so that a score is -inf there, which is not known of what
    // is
    // causal besides.
    {"attention_f16_causal_mask", 1},
    // Beyond n the weight is exp2(-inf - top) = 0, or NaN where top is -inf: then all of the row is NaN. It
    // would
    // not do for a row without a lane, whose sum is 0.
    {"softmax_f32_f32_resident_2d", 1},
    {"softmax_bf16_f32_resident_3d", 1},
    {"softmax_f32_f32_resident_2d_inner", 1},
    {"softmax_bf16_f32_resident_3d_inner", 1},
    // Beyond n max(acc, 0) is 0, also where acc is NaN from an infinity times 0, and c(n) is loaded as 0.
    {"nested_loops", 1},
};

TEST_P(Mutated, EveryMaskIsNeeded) {
  const Case& c = GetParam();
  Program p = lowered(c, {});
  auto redundant = kRedundantMasks.find(c.name);
  std::vector<std::string> found = test::unnoticed(test::without_masks(p), p, telling(c));
  EXPECT_EQ(found.size(), redundant == kRedundantMasks.end() ? 0 : redundant->second)
      << ::testing::PrintToString(found);
}

}  // namespace
}  // namespace tessera
