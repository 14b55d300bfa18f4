#include "tile_core/ir/trailing_dot.h"

#include <gtest/gtest.h>

#include "tests/support/emulated_result.h"
#include "tests/support/mutation.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/codegen/exchange.h"
#include "tile_core/dsl/math.h"
#include "tile_core/ir/operands.h"
#include "tile_core/passes/pipeline.h"

// Dots whose last step is multiplied after the next iteration's wait, and stores of their 16-bit results.
namespace tessera {
namespace {

using test::Call;
using test::Setting;

/// C = A B^T of 16 bits by 64 x 64, `deep` lanes of K at a time.
Program product(int deep, bool scaled = false, bool transposed = false) {
  using namespace dsl;
  Builder p("product");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = transposed ? p.in("b", bf16, {K, N}) : p.in("b", bf16, {N, K});
  Out out = p.out("out", bf16, {M, N});
  Axis m = p.grid(M, 64), n = p.grid(N, 64);
  Var sum = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, deep)) {
    Tile part = transposed ? dot(a(m, k), b(k, n), k) : dot(a(m, k), b(n, k), k);
    sum += scaled ? part * 0.5 : part;
  }
  out(m, n) = cast(bf16, sum);
  return p.finish();
}

Setting staged(int stages) {
  return {.schedule = {.stages = stages, .warps = 4}, .target = Target::named("sm_80")};
}

Program lowered(const Program& program, const Call& call, const Setting& setting) {
  return lower(program, {test::facts_of(program, call, setting), setting.schedule, setting.target});
}

const Loop* first_loop(const Program& program) {
  const Loop* found = nullptr;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (found == nullptr) found = std::get_if<Loop>(&inst.op);
  });
  return found;
}

const Call kRagged{{{"M", 72}, {"N", 104}, {"K", 200}}};

std::string text_of(const Program& program, const Setting& setting) {
  const Facts facts = test::facts_of(program, kRagged, setting);
  return emit_cuda(lowered(program, kRagged, setting), facts, setting.schedule).text;
}

bool crosses_the_barrier(const Program& program, const Setting& setting) {
  return text_of(program, setting).find("rows_of_v") != std::string::npos;
}

TEST(TrailingDot, IsOneWhoseResultNothingReads) {
  EXPECT_NE(trailing_dot(*first_loop(lowered(product(64), kRagged, staged(3)))), nullptr);
  const Program scaled = lowered(product(64, /*scaled=*/true), kRagged, staged(3));
  EXPECT_EQ(trailing_dot(*first_loop(scaled)), nullptr);
}

TEST(TrailingDot, IsOneWhoseSlotsAreWholeAndFilledEarlier) {
  const Loop loop = *first_loop(lowered(product(64), kRagged, staged(3)));
  const auto is_trailing_after = [&](const auto& change) {
    Loop changed = loop;
    for (Inst& inst : changed.body.insts) change(inst);
    return trailing_dot(changed) != nullptr;
  };
  EXPECT_TRUE(is_trailing_after([](Inst&) {}));
  EXPECT_FALSE(is_trailing_after([](Inst& inst) {
    if (CopyIn* copy = std::get_if<CopyIn>(&inst.op)) copy->to.offset = 0;
  }));
  EXPECT_FALSE(is_trailing_after([](Inst& inst) {
    if (CopyIn* copy = std::get_if<CopyIn>(&inst.op)) copy->to.ticket = ValueId::none;
  }));
  EXPECT_FALSE(is_trailing_after([](Inst& inst) {
    if (DotShared* dot = std::get_if<DotShared>(&inst.op)) dot->b.part.of = AxisId{0};
  }));
  EXPECT_FALSE(is_trailing_after([](Inst& inst) {
    if (DotShared* dot = std::get_if<DotShared>(&inst.op)) dot->a.slot.offset = 1;
  }));
}

TEST(TrailingDot, WaitsAtTheEndWhereCopiesAreTwoIterationsAhead) {
  for (const int stages : {2, 3, 4}) {
    const Program program = lowered(product(64), kRagged, staged(stages));
    const std::vector<Inst>& body = first_loop(program)->body.insts;
    EXPECT_EQ(std::holds_alternative<WaitCopies>(body.front().op), stages == 2) << stages;
    EXPECT_EQ(std::holds_alternative<Barrier>(body.back().op), stages > 2) << stages;
  }
}

TEST(TrailingDot, CrossesTheBarrierWhereItsStepsFit) {
  EXPECT_TRUE(crosses_the_barrier(product(64), staged(3)));
  EXPECT_TRUE(crosses_the_barrier(product(32), staged(4)));
  EXPECT_FALSE(crosses_the_barrier(product(64), staged(2))) << "waits at the start";
  EXPECT_FALSE(crosses_the_barrier(product(16), staged(3))) << "one step";
  EXPECT_FALSE(crosses_the_barrier(product(48), staged(3))) << "an odd number of steps";
  EXPECT_FALSE(crosses_the_barrier(product(64, /*scaled=*/true), staged(3))) << "its result is read";
  Setting narrow = staged(3);
  narrow.schedule.vector = 2;
  EXPECT_FALSE(crosses_the_barrier(product(64), narrow)) << "copies of 4 bytes";
}

TEST(TrailingDot, TextGivesTheResultOfTheProgram) {
  for (const int deep : {32, 64}) {
    for (const std::int64_t K : {0, 8, 64, 200}) {
      const Call call{{{"M", 72}, {"N", 104}, {"K", K}}};
      for (const int stages : {3, 4})
        EXPECT_TRUE(test::emulates(product(deep), call, staged(stages), 0)) << deep << ", K = " << K;
    }
  }
  for (const test::Arrangement arrangement : test::kArrangements) {
    Setting setting = staged(3);
    setting.arrangement = arrangement;
    EXPECT_TRUE(test::emulates(product(64), kRagged, setting, 0));
  }
  EXPECT_TRUE(test::emulates(product(32, false, /*transposed=*/true), kRagged, staged(3), 0));
}

TEST(TrailingDot, EveryWaitAndBarrierIsNeeded) {
  for (const int stages : {3, 4}) {
    const Program program = lowered(product(64), kRagged, staged(stages));
    std::vector<Call> calls;
    for (const std::int64_t trips : {0, 1, 2, 3, 5})
      calls.push_back({{{"M", 72}, {"N", 104}, {"K", 64 * trips}}});
    EXPECT_EQ(test::unnoticed(test::without_waits(program), program, calls), std::vector<std::string>())
        << stages;
  }
}

constexpr AxisId kRow{0}, kColumn{1};

TEST(Exchange, GivesEachLaneFourElementsOfARow) {
  const Layout sums({{Place::reg, kColumn, 2, 1},
                     {Place::reg, kRow, 2, 8},
                     {Place::reg, kColumn, 4, 8},
                     {Place::lane, kColumn, 4, 2},
                     {Place::lane, kRow, 8, 1}});
  const auto exchange = codegen::exchange_of(sums, kColumn);
  ASSERT_TRUE(exchange.has_value());
  EXPECT_EQ(exchange->block, 4);
  EXPECT_EQ(exchange->layout, Layout({{Place::reg, kColumn, 4, 1},
                                      {Place::reg, kRow, 2, 8},
                                      {Place::reg, kColumn, 2, 16},
                                      {Place::lane, kColumn, 2, 8},
                                      {Place::lane, kColumn, 2, 4},
                                      {Place::lane, kRow, 8, 1}}));
  for (int lane = 0; lane < 32; ++lane) {  // what the pairs' elements are, before and after
    for (int r = 0; r < 16; r += 4) {
      const int q = r / 4, first = q % 2 * 2 + q / 2 * 8, even = lane / 2 * 2;
      const int pair = lane % 2 == 0 ? first : first + 4;
      for (int i = 0; i < 4; ++i) {
        for (const AxisId axis : {kRow, kColumn}) {
          const auto at = [&](const Layout& layout, int reg, int of) {
            return layout.coordinate(Place::reg, reg, axis) + layout.coordinate(Place::lane, of, axis);
          };
          EXPECT_EQ(at(exchange->layout, r + i, lane), at(sums, pair + i % 2, even + i / 2));
        }
      }
    }
  }
  EXPECT_EQ(codegen::first_pair(*exchange, "r"), "r / 4 % 2 * 2 + r / 4 / 2 * 8");
}

TEST(Exchange, IsForPairsOfTwoBlocks) {
  const Repeat pair{Place::reg, kColumn, 2, 1}, blocks{Place::reg, kColumn, 2, 8},
      lanes{Place::lane, kColumn, 4, 2};
  EXPECT_TRUE(codegen::exchange_of(Layout({pair, blocks, lanes}), kColumn).has_value());
  EXPECT_FALSE(codegen::exchange_of(Layout({pair, blocks, lanes}), kRow).has_value());
  EXPECT_FALSE(codegen::exchange_of(Layout({pair, lanes}), kColumn).has_value());
  EXPECT_FALSE(codegen::exchange_of(Layout({blocks, lanes}), kColumn).has_value());
  EXPECT_FALSE(codegen::exchange_of(Layout({pair, {Place::reg, kColumn, 3, 8}, lanes}), kColumn).has_value());
  EXPECT_FALSE(
      codegen::exchange_of(Layout({pair, blocks, {Place::lane, kColumn, 4, 16}}), kColumn).has_value());
}

}  // namespace
}  // namespace tessera
