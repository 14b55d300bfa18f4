#include "tile_core/ir/uses.h"

#include "tests/support/programs.h"
#include "tile_core/ir/print.h"

namespace tessera {
namespace {

using test::program;

TEST(Uses, KnowsDefinersUsersAndLoops) {
  Program p = program("gemm_tile");
  Uses uses(p);
  auto id = [](int number) { return static_cast<ValueId>(number); };
  const Inst& loop = uses.definer(id(7));
  ASSERT_TRUE(std::holds_alternative<Loop>(loop.op));
  EXPECT_EQ(&uses.definer(id(3)), &loop);  // a parameter
  EXPECT_EQ(uses.loop_of(id(3)), &loop);
  EXPECT_EQ(uses.loop_of(id(4)), &loop);
  EXPECT_EQ(uses.loop_of(id(7)), nullptr);
  EXPECT_TRUE(std::holds_alternative<Load>(uses.definer(id(4)).op));

  ASSERT_EQ(uses.users(id(4)).size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Dot>(uses.users(id(4)).front()->op));
  EXPECT_EQ(uses.users(id(6)), std::vector{&loop});  // yielded
  EXPECT_EQ(uses.users(id(0)), std::vector{&loop});  // carried
  EXPECT_TRUE(uses.is_used(id(10)));
  EXPECT_EQ(uses.users(id(7)).size(), 1U);
}

TEST(Uses, KnowsBranchesAndRoles) {
  Program p = program("gemm_roles");
  Uses uses(p);
  auto id = [](int number) { return static_cast<ValueId>(number); };
  EXPECT_EQ(&uses.definer(id(34)), &p.body.insts.back());  // the number of the instance
  EXPECT_EQ(uses.loop_of(id(34)), nullptr);
  EXPECT_TRUE(std::holds_alternative<If>(uses.definer(id(57)).op));
  EXPECT_EQ(uses.users(id(56)), std::vector{&uses.definer(id(57))});  // yielded by a branch
  EXPECT_EQ(uses.loop_of(id(56)), uses.loop_of(id(57)));              // a branch is no loop
  EXPECT_EQ(uses.loop_of(id(57)), &uses.definer(id(37)));
}

class Needed : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Programs, Needed, ::testing::ValuesIn(test::kPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Needed, NothingGoesThatHasAnEffect) {
  Program p = program(GetParam());
  EXPECT_EQ(remove_unused(p), p);
}

TEST(RemoveUnused, TakesWhatABranchYieldsForNothing) {
  Program p = parse(R"(program p stage roled warps 4 {
  out c: i64()
  %0: i64 = constant 0
  %1: boolean = lt %0, %0
  if %1 {
    %2: i64 = constant 1
    %3: i64 = constant 2
    yield %2, %3
  } else {
    yield %0, %0
  } results %4, %5
  if %1 {
    yield %5
  } else {
    yield %0
  } results %6
  %7: i64 = constant 3
  sequential * from %0 until %4 step %7 start %8 ticket %9 after %4 {
    store c(), %9
  }
}
)");
  EXPECT_EQ(to_text(remove_unused(p)), R"(program p stage roled warps 4 {
  out c: i64()
  %0: i64 = constant 0
  %1: boolean = lt %0, %0
  if %1 {
    %2: i64 = constant 1
    yield %2
  } else {
    yield %0
  } results %3
  %4: i64 = constant 3
  sequential * from %0 until %3 step %4 start %5 ticket %6 after %3 {
    store c(), %6
  }
}
)");
}

TEST(RemoveUnused, TakesLoopsAndCarriedValuesThatNothingNeeds) {
  Program p = parse(R"(program p stage tile {
  dim M
  dim K
  axis m:4 grid M
  axis k:8 loop K
  axis l:8 loop K
  in a: f32(M, K)
  out c: f32(M)
  grid m
  %0: f32[m:4] = constant 0
  %1: i64 = constant 0
  %2: i64 = size K
  %3: f32[m:4] = exp %0
  sequential k from %1 until %2 carry (%4: f32[m:4] = %0, %5: f32[m:4] = %3, %6: f32[m:4] = %0) {
    %7: f32[m:4, k:8] = load a(m, k)
    %8: f32[m:4] = reduce_sum<k> %7
    %9: f32[m:4] = add %4, %8
    %10: f32[m:4] = mul %5, %5
    %11: f32[m:4] = add %9, %6
    yield %11, %10, %9
  } results %12, %13, %14
  sequential l from %1 until %2 carry (%15: f32[m:4] = %13) {
    yield %15
  } results %16
  store c(m), %12
}
)");
  EXPECT_EQ(to_text(remove_unused(p)), R"(program p stage tile {
  dim M
  dim K
  axis m:4 grid M
  axis k:8 loop K
  axis l:8 loop K
  in a: f32(M, K)
  out c: f32(M)
  grid m
  %0: f32[m:4] = constant 0
  %1: i64 = constant 0
  %2: i64 = size K
  sequential k from %1 until %2 carry (%3: f32[m:4] = %0, %4: f32[m:4] = %0) {
    %5: f32[m:4, k:8] = load a(m, k)
    %6: f32[m:4] = reduce_sum<k> %5
    %7: f32[m:4] = add %3, %6
    %8: f32[m:4] = add %7, %4
    yield %8, %7
  } results %9, %10
  store c(m), %9
}
)");
}

}  // namespace
}  // namespace tessera
