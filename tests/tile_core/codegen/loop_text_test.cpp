#include <gtest/gtest.h>

#include "tests/support/emulated_result.h"
#include "tests/support/mutation.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/online_softmax.h"
#include "tile_core/ir/early_reads.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/partial_sum.h"
#include "tile_core/ir/stepping.h"
#include "tile_core/passes/pipeline.h"

// What the text of a loop has beside the program's values: pointers that step, sums that lanes keep apart,
// fragments that are read before their dot stands.
namespace tessera {
namespace {

using test::Call;
using test::Setting;

const Call kRagged{{{"I", 72}, {"J", 200}}};

Setting of_warps(int stages = 2) {
  return {.schedule = {.stages = stages, .warps = 4}, .target = Target::named("sm_80")};
}

/// Attention of one head, 128 rows at a time: two blocks of 16 rows for each warp.
Program attended() {
  using namespace dsl;
  Builder p("attended");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D");
  In q = p.in("q", f16, {I, D}), k = p.in("k", f16, {J, D}), v = p.in("v", f16, {J, D});
  Out out = p.out("out", f16, {I, D});
  Axis i = p.grid(I, 128), d = p.all(D, 64), e = p.all(D, 64);
  Tile rows = q(i, d);
  OnlineSoftmax row(p, {i});
  Var sum = p.zeros(f32, {i, e});
  for (Axis j : p.pipelined(J, 32)) {
    Tile weights = row.weights(dot(rows, k(j, d), d), j);
    sum = rescale(sum, row.keep()) + dot(cast(f16, weights), v(j, e), j);
  }
  out(i, e) = cast(f16, sum * row.inverse_total());
  return p.finish();
}

/// The sum of each row, from `start`; `twice` reads it in the loop, too.
Program row_sums(double start, bool twice) {
  using namespace dsl;
  Builder p("row_sums");
  Dim I = p.dim("I"), J = p.dim("J");
  In x = p.in("x", f32, {I, J});
  Out out = p.out("out", f32, {I}), sums = p.out("sums", f32, {I});
  Axis i = p.grid(I, 64);
  Var sum = p.zeros(f32, {i}), of_sums = p.zeros(f32, {i});
  if (start != 0) sum = sum + start;
  for (Axis j : p.pipelined(J, 32)) {
    sum = sum + reduce_sum(x(i, j), j);
    if (twice) of_sums = of_sums + sum;
  }
  out(i) = sum;
  sums(i) = of_sums;
  return p.finish();
}

Call with_depth(Call call) {
  call.dims["D"] = 64;
  return call;
}

Program lowered(const Program& program, const Call& call, const Setting& setting) {
  return lower(program, {test::facts_of(program, call, setting), setting.schedule, setting.target});
}

std::string text_of(const Program& program, const Call& call, const Setting& setting) {
  const Facts facts = test::facts_of(program, call, setting);
  return emit_cuda(lowered(program, call, setting), facts, setting.schedule).text;
}

const Inst* first_loop(const Program& program) {
  const Inst* found = nullptr;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (found == nullptr && std::holds_alternative<Loop>(inst.op)) found = &inst;
  });
  return found;
}

std::vector<std::optional<Stepping>> steps_of_copies(const Program& program) {
  const Uses uses(program);
  const Inst* loop = first_loop(program);
  std::vector<std::optional<Stepping>> steps;
  for (const Inst& inst : std::get<Loop>(loop->op).body.insts) {
    if (const auto* copy = std::get_if<CopyIn>(&inst.op))
      steps.push_back(stepping_in(*loop, copy->load, uses));
  }
  return steps;
}

TEST(SteppingCopies, MoveAlongTheSubscriptOfTheLoop) {
  for (const int stages : {2, 3}) {
    const auto steps = steps_of_copies(lowered(attended(), with_depth(kRagged), of_warps(stages)));
    ASSERT_EQ(steps.size(), 2);  // the keys and the values
    for (const auto& step : steps) {
      ASSERT_TRUE(step.has_value());
      EXPECT_EQ(step->subscript, 0);
      EXPECT_EQ(step->ahead, 32 * (stages - 1));
    }
  }
}

TEST(SteppingCopies, AreNoneWhoseStartIsComputedOtherwise) {
  Program program = lowered(attended(), with_depth(kRagged), of_warps());
  const ValueId start = std::get<Loop>(first_loop(program)->op).start;
  for_each_inst(program.body, [&](Inst& inst) {
    auto* sum = std::get_if<Binary>(&inst.op);
    if (sum != nullptr && sum->fn == BinaryFn::add && sum->a == start) sum->fn = BinaryFn::max;
  });
  for (const auto& step : steps_of_copies(program)) EXPECT_FALSE(step.has_value());
}

TEST(SteppingCopies, CarryTheirPointer) {
  const std::string text = text_of(attended(), with_depth(kRagged), of_warps());
  const std::size_t loop = text.find("for (int64 ");
  EXPECT_LT(text.find("source_1 = p.data_v"), loop);
  EXPECT_NE(text.find("source_1 += int64(32) * p.stride_v_0;", loop), std::string::npos);
}

TEST(PartialSum, IsWhatTheLoopAloneAddsUp) {
  const auto sums_of = [](const Program& program) {
    const Program ready = lowered(program, kRagged, of_warps());
    return partial_sums(ready, *first_loop(ready), Uses(ready)).size();
  };
  EXPECT_EQ(sums_of(row_sums(0, false)), 1);
  EXPECT_EQ(sums_of(row_sums(1, false)), 0) << "each lane would start from 1";
  EXPECT_EQ(sums_of(row_sums(0, true)), 0) << "the body reads it";
}

/// The sum of each row, scaled by what may be infinite.
Program scaled_row_sums() {
  using namespace dsl;
  Builder p("scaled_row_sums");
  Dim I = p.dim("I"), J = p.dim("J");
  In x = p.in("x", f32, {I, J});
  Out out = p.out("out", f32, {I});
  Axis i = p.grid(I, 64);
  Var sum = p.zeros(f32, {i});
  for (Axis j : p.pipelined(J, 32)) {
    Tile y = x(i, j);
    sum = sum * reduce_max(y, j) + reduce_sum(y, j);
  }
  out(i) = sum;
  return p.finish();
}

TEST(PartialSum, IsScaledByAtMostOne) {
  const Program scaled = lowered(scaled_row_sums(), kRagged, of_warps());
  EXPECT_TRUE(partial_sums(scaled, *first_loop(scaled), Uses(scaled)).empty());
  const Program softmax = lowered(attended(), with_depth(kRagged), of_warps());
  EXPECT_EQ(partial_sums(softmax, *first_loop(softmax), Uses(softmax)).size(), 1);
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Call call{.dims = {{"I", 72}, {"J", 72}}, .seed = seed, .infinite = 0};
    EXPECT_TRUE(test::emulates(scaled_row_sums(), call, of_warps(), 1e-5)) << seed;
  }
}

TEST(PartialSum, MeetsAfterTheLoop) {
  const std::string text = text_of(attended(), with_depth(kRagged), of_warps());
  const std::size_t loop = text.find("for (int64 "), end = text.find("\n  }\n", loop);
  const auto count = [&](std::size_t from, std::size_t to, const char* what) {
    int found = 0;
    for (std::size_t at = text.find(what, from); at < to; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(loop, end, "shuffle_xor"), 2) << "the maximum's";
  EXPECT_EQ(count(end, text.size(), "shuffle_xor"), 2);
}

TEST(EarlyReads, AreOfRowsThatStayAndOfColumnsBehindARescale) {
  const Program program = lowered(attended(), with_depth(kRagged), of_warps());
  const EarlyReads reads = early_reads(program);
  EXPECT_EQ(reads.rows.size(), 1);
  EXPECT_EQ(reads.columns.size(), 1);
  const std::string text = text_of(attended(), with_depth(kRagged), of_warps());
  const std::size_t loop = text.find("for (int64 ");
  EXPECT_LT(text.find("unsigned rows_v", loop), text.find("wait_copies", loop));
  EXPECT_LT(text.rfind("unsigned columns_v"), text.find("bool changes"));
}

TEST(EarlyReads, AreNotOfRowsThatNotAllThreadsSee) {
  Program program = lowered(attended(), with_depth(kRagged), of_warps());
  std::erase_if(program.body.insts,
                [](const Inst& inst) { return std::holds_alternative<Barrier>(inst.op); });
  EXPECT_TRUE(early_reads(program).rows.empty());
}

TEST(EarlyReads, AreNotOfADotThatTrails) {
  using namespace dsl;
  Builder p("rescaled");
  Dim I = p.dim("I"), J = p.dim("J"), D = p.dim("D");
  In q = p.in("q", f16, {I, J}), v = p.in("v", f16, {J, D}), factor = p.in("factor", f32, {I});
  Out out = p.out("out", f16, {I, D});
  Axis i = p.grid(I, 64), e = p.all(D, 64);
  Tile factors = factor(i);
  Var sum = p.zeros(f32, {i, e});
  for (Axis j : p.pipelined(J, 32)) sum = rescale(sum, factors) + dot(q(i, j), v(j, e), j);
  out(i, e) = cast(f16, sum);
  const std::string text = text_of(p.finish(), with_depth(kRagged), of_warps(3));
  EXPECT_NE(text.find("columns_of_v"), std::string::npos);
  EXPECT_EQ(text.find("unsigned columns_v"), std::string::npos);
}

TEST(SettledChannels, AreThoseOfCopiesThatAWaitAndABarrierCover) {
  const ValueId first{0}, second{1};
  const auto copy = [](ValueId channel) {
    return Inst{{}, CopyIn{.load = {}, .to = {.channel = channel}, .kind = CopyKind::async}, {}};
  };
  const Inst commit{{}, CommitCopies{}, {}}, barrier{{}, Barrier{}, {}};
  SettledChannels settled;
  for (const Inst& inst : {copy(first), commit, copy(second), commit}) settled.walk_over(inst);
  settled.walk_over(Inst{{}, WaitCopies{1}, {}});
  EXPECT_FALSE(settled.contains(first)) << "other threads have not waited";
  settled.walk_over(barrier);
  EXPECT_TRUE(settled.contains(first));
  EXPECT_FALSE(settled.contains(second));
  settled.walk_over(copy(first));
  EXPECT_FALSE(settled.contains(first));
}

TEST(LoopText, GivesTheResultOfTheProgram) {
  for (const std::int64_t J : {0, 1, 32, 64, 200}) {
    for (const int stages : {2, 3}) {
      const Call call{{{"I", 136}, {"J", J}, {"D", 64}}};
      EXPECT_TRUE(test::emulates(attended(), call, of_warps(stages), 1e-3)) << "J = " << J;
      EXPECT_TRUE(test::emulates(row_sums(0, false), {{{"I", 72}, {"J", J}}}, of_warps(stages), 1e-5));
      EXPECT_TRUE(test::emulates(row_sums(1, true), {{{"I", 72}, {"J", J}}}, of_warps(stages), 1e-5));
    }
  }
  for (const test::Arrangement arrangement : test::kArrangements) {
    Setting setting = of_warps();
    setting.arrangement = arrangement;
    EXPECT_TRUE(test::emulates(attended(), with_depth(kRagged), setting, 1e-3));
  }
}

}  // namespace
}  // namespace tessera
