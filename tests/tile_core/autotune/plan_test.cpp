#include "tile_core/autotune/plan.h"

#include "tests/tile_core/autotune/support.h"

namespace tessera::autotune {
namespace {

const std::vector<Variant> kSpace = {variant(128), variant(64), variant(16)};

std::string all_legal(const Variant&) {
  return "";
}
std::string large_tiles_are_illegal(const Variant& v) {
  return v.tiles.at("m") > 64 ? "shared memory: too much" : "";
}
std::string nothing_is_legal(const Variant&) {
  return "no";
}

/// "name: verdict" of every candidate.
std::vector<std::string> verdicts(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Candidate& c : plan.candidates) lines.push_back(c.name + ": " + c.verdict);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Plan, PolicyNativeAsksNobody) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{16, 1}}));
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::native, {.user = &records});
  EXPECT_EQ(plan.tile, std::nullopt);
  EXPECT_EQ(plan.source, Source::policy);
}

TEST(Plan, WithoutARecordNativeRuns) {
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic, {});
  EXPECT_EQ(plan.tile, std::nullopt);
  EXPECT_EQ(plan.source, Source::cost_model);
  EXPECT_EQ(plan.reason, "no record shows a generated kernel faster here");
  EXPECT_EQ(plan.candidates.size(), 1 + kSpace.size());
}

TEST(Plan, ARecordWhoseTileIsFasterIsFollowed) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{128, 9}, {64, 7}, {16, 12}}));
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic, {.user = &records});
  EXPECT_EQ(plan.tile, variant(64));
  EXPECT_EQ(plan.source, Source::user_records);
  EXPECT_EQ(plan.reason, "measured fastest for this shape");
  EXPECT_EQ(verdicts(plan), (Lines{"m=64 n=64 warps=4: chosen", "m=128 n=64 warps=4: slower",
                                   "m=16 n=64 warps=4: slower", "native (cuBLAS): slower"}));
  EXPECT_EQ(plan.candidates[0].microseconds, 7);
}

TEST(Plan, ARecordWithoutALegalTileSaysSo) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{128, 9}, {64, 7}}));
  const Plan plan =
      choose(linear_key(64, 64, 64), kSpace, nothing_is_legal, Policy::automatic, {.user = &records});
  EXPECT_EQ(plan.tile, std::nullopt);
  EXPECT_EQ(plan.reason, "none of the kernels measured for this shape can run");
}

TEST(Plan, ARecordWhoseNativeIsFasterIsFollowed) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{64, 11}}));
  const Plan plan =
      choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic, {.shipped = &records});
  EXPECT_EQ(plan.tile, std::nullopt);
  EXPECT_EQ(plan.source, Source::shipped_records);
  EXPECT_EQ(verdicts(plan), (Lines{"native (cuBLAS): chosen", "m=64 n=64 warps=4: slower"}));
}

TEST(Plan, PolicyTileTakesTheFastestTile) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{64, 11}, {16, 12}}));
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::tile, {.user = &records});
  EXPECT_EQ(plan.tile, variant(64));
  EXPECT_EQ(verdicts(plan).back(), "native (cuBLAS): the policy is tile");
}

TEST(Plan, TheUsersRecordsComeFirst) {
  Records user, shipped;
  user.add(record(linear_key(64, 64, 64), {{16, 5}}));
  shipped.add(record(linear_key(64, 64, 64), {{64, 1}}));
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic,
                           {.user = &user, .shipped = &shipped});
  EXPECT_EQ(plan.tile, variant(16));
}

TEST(Plan, ARecordOfAnotherShapeMustBeLegalHere) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{128, 5}, {64, 7}}));
  const Plan plan =
      choose(linear_key(100, 64, 64), kSpace, large_tiles_are_illegal, Policy::automatic, {.user = &records});
  EXPECT_EQ(plan.tile, variant(64));
  EXPECT_EQ(plan.reason,
            "measured fastest for the nearest measured shape, " + to_text(linear_key(64, 64, 64)));
  EXPECT_EQ(verdicts(plan)[1], "m=128 n=64 warps=4: shared memory: too much");
}

TEST(Plan, B138_AWrongVariantNeverRuns) {
  Records records;
  Record r = record(linear_key(64, 64, 64), {{64, 1}});
  r.variants[0].failure = "wrong result: 0.5 off";
  records.add(r);
  EXPECT_EQ(choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic, {.user = &records}).tile,
            std::nullopt);
  const Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::tile, {.user = &records});
  EXPECT_EQ(plan.tile, variant(128));  // the cost model's
  EXPECT_EQ(plan.source, Source::cost_model);
}

TEST(Plan, FrozenPlansComeBeforeRecords) {
  FrozenPlans frozen;
  frozen.add(linear_key(64, 64, 64), variant(16));
  frozen.add(linear_key(1, 64, 64), std::nullopt);
  Records records;
  records.add(record(linear_key(64, 64, 64), {{64, 1}}));
  const Knowledge knowledge{&frozen, &records, nullptr};
  Plan plan = choose(linear_key(64, 64, 64), kSpace, all_legal, Policy::automatic, knowledge);
  EXPECT_EQ(plan.tile, variant(16));
  EXPECT_EQ(plan.source, Source::frozen);
  plan = choose(linear_key(1, 64, 64), kSpace, all_legal, Policy::tile, knowledge);
  EXPECT_EQ(plan.tile, variant(128));  // frozen to native, which policy tile forbids
  EXPECT_EQ(plan.candidates.size(), 4U);
}

TEST(Plan, AFrozenPlanThatIsNotFollowedIsAWarning) {
  const Key small = linear_key(64, 64, 64), native = linear_key(1, 64, 64);
  FrozenPlans frozen;
  frozen.add(small, variant(128));
  frozen.add(native, std::nullopt);
  const Knowledge knowledge{.frozen = &frozen};
  EXPECT_EQ(choose(small, kSpace, all_legal, Policy::automatic, knowledge).warnings, Lines{});
  EXPECT_EQ(
      choose(small, kSpace, large_tiles_are_illegal, Policy::automatic, knowledge).warnings,
      Lines{"the frozen plan m=128 n=64 warps=4 is not followed: shared memory: too much; the call is " +
            to_text(small)});
  EXPECT_EQ(choose(native, kSpace, all_legal, Policy::automatic, knowledge).warnings, Lines{});
  EXPECT_EQ(choose(native, kSpace, all_legal, Policy::tile, knowledge).warnings,
            Lines{"the frozen plan native is not followed: frozen, but the policy is tile; the call is " +
                  to_text(native)});
}

TEST(Plan, TheUsersRecordsOfOtherVersionsAreAWarning) {
  const Key key = linear_key(64, 64, 64);
  Record measured = record(key, {{64, 7}});
  measured.versions = {"2.10.0", "13.0", "12.8"};
  Records records;
  records.add(measured);
  const auto warnings = [&](const Versions& here) {
    return choose(key, kSpace, all_legal, Policy::automatic, {.user = &records, .here = here}).warnings;
  };
  EXPECT_EQ(warnings({"2.10.0", "13.0", "12.8"}), Lines{});
  EXPECT_EQ(warnings({}), Lines{});
  EXPECT_EQ(
      warnings({"2.11.0", "13.0", "13.0"}),
      Lines{"records were measured with torch 2.10.0 instead of 2.11.0, NVRTC 12.8 instead of 13.0, where "
            "other kernels may be the fastest; `tessera bench --record` measures again"});
  EXPECT_EQ(choose(key, kSpace, all_legal, Policy::automatic,
                   {.shipped = &records, .here = {"2.11.0", "13.0", "13.0"}})
                .warnings,
            Lines{});
}

TEST(Plan, B138_UnderPolicyTileNoLegalVariantIsSaid) {
  const Plan plan =
      choose(linear_key(64, 64, 64), {variant(64), variant(16)}, nothing_is_legal, Policy::tile, {});
  EXPECT_EQ(plan.tile, std::nullopt);
  EXPECT_EQ(plan.unsupported, "m=64 n=64 warps=4: no; m=16 n=64 warps=4: no");
  EXPECT_EQ(choose(linear_key(64, 64, 64), kSpace, large_tiles_are_illegal, Policy::tile, {}).tile,
            variant(64));
}

TEST(Plan, DescribesItself) {
  Records records;
  records.add(record(linear_key(64, 64, 64), {{64, 7}}));
  const Key key = linear_key(64, 64, 64);
  EXPECT_EQ(describe(key, choose(key, kSpace, all_legal, Policy::automatic, {.user = &records})),
            "linear K=64 M=64 N=64 (bf16 d1 16B, bf16 d1 16B, bf16 d1 16B) bias=0 on NVIDIA H200 (sm_90a)\n"
            "  plan: m=64 n=64 warps=4, from the user's records: measured fastest for this shape\n"
            "  m=64 n=64 warps=4                                   7.00 us  chosen\n"
            "  native (cuBLAS)                                    10.00 us  slower\n");
}

}  // namespace
}  // namespace tessera::autotune
