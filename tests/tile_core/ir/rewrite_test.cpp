#include "tile_core/ir/rewrite.h"

#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using test::program;

constexpr const char* kSum = R"(program sum stage tile {
  dim M
  dim K
  axis m:4 grid M
  axis k:8 loop K
  in a: f32(M, K)
  out c: f32(M)
  grid m
  %0: f32[m:4] = constant 0
  %1: i64 = constant 0
  %2: i64 = size K
  sequential k from %1 until %2 carry (%3: f32[m:4] = %0) {
    %4: f32[m:4, k:8] = load a(m, k)
    %5: f32[m:4] = reduce_sum<k> %4
    %6: f32[m:4] = add %3, %5
    yield %6
  } results %7
  store c(m), %7
}
)";

std::string rewritten(const Rule& rule) {
  Program p = rewrite(parse(kSum), rule);
  verify(p);
  return to_text(p);
}

/// The text of the sum with one line replaced by others.
std::string with(const std::string& line, const std::string& lines) {
  std::string text = kSum;
  return text.replace(text.find(line), line.size(), lines);
}

class Rewritten : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Programs, Rewritten, ::testing::ValuesIn(test::kPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Rewritten, IsTheSameWhereNoRuleApplies) {
  Program p = program(GetParam());
  EXPECT_EQ(rewrite(p, [](Rewriter&, const Inst&) { return false; }), p);
}

TEST(Rewrite, ReplacesAnInstructionByOthers) {
  // sum(x) becomes sum(abs(x)), inside of the loop
  std::string text = rewritten([](Rewriter& r, const Inst& inst) {
    const Reduce* reduce = std::get_if<Reduce>(&inst.op);
    if (reduce == nullptr) return false;
    ValueId a = r.map(reduce->a);
    Type type = r.out().type(a);
    ValueId absolute = r.emit(Unary{UnaryFn::abs, a}, type, inst.loc);
    r.replace(inst.result(),
              r.emit(Reduce{reduce->fn, absolute, reduce->axis}, r.in().type(inst.result()), inst.loc));
    return true;
  });
  EXPECT_EQ(text, with("    %5: f32[m:4] = reduce_sum<k> %4\n    %6: f32[m:4] = add %3, %5\n    yield %6\n  "
                       "} results %7\n  store c(m), %7\n",
                       "    %5: f32[m:4, k:8] = abs %4\n    %6: f32[m:4] = reduce_sum<k> %5\n    %7: "
                       "f32[m:4] = add %3, %6\n    yield %7\n"
                       "  } results %8\n  store c(m), %8\n"));
}

TEST(Rewrite, DropsWhatNothingUses) {
  std::string text =
      rewritten([](Rewriter&, const Inst& inst) { return std::holds_alternative<Store>(inst.op); });
  EXPECT_EQ(text, with("  store c(m), %7\n", ""));
}

TEST(Rewrite, RejectsDroppingWhatIsUsed) {
  try {
    rewritten([](Rewriter&, const Inst& inst) { return std::holds_alternative<Size>(inst.op); });
    FAIL() << "rewritten";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal tessera error: rewrite of sum: value 2 is used, but its definition was dropped or "
                 "comes later");
  }
}

TEST(Rewrite, LoopsMayCarryMore) {
  // counts the iterations in a second carried value
  std::vector<ValueId> results;
  std::string text = rewritten([&](Rewriter& r, const Inst& inst) {
    if (!std::holds_alternative<Loop>(inst.op)) return false;
    Type number;
    number.dtype = i64;
    ValueId zero = r.emit(Constant{0}, number, inst.loc);
    ValueId count = ValueId::none;
    auto enter = [&](Loop& loop) {
      loop.carried.push_back(zero);
      loop.parameters.push_back(count = r.define(number));
    };
    auto leave = [&](Loop& loop) {
      ValueId one = r.emit(Constant{1}, number, inst.loc);
      loop.body.yields.push_back(r.emit(Binary{BinaryFn::add, count, one}, number, inst.loc));
    };
    results = r.copy_loop(inst, {enter, leave});
    return true;
  });
  EXPECT_EQ(results.size(), 2U);
  EXPECT_EQ(
      text,
      with("  sequential k from %1 until %2 carry (%3: f32[m:4] = %0) {\n    %4: f32[m:4, k:8] = load a(m, "
           "k)\n"
           "    %5: f32[m:4] = reduce_sum<k> %4\n    %6: f32[m:4] = add %3, %5\n    yield %6\n  } results "
           "%7\n  store c(m), %7\n",
           "  %3: i64 = constant 0\n"
           "  sequential k from %1 until %2 carry (%4: f32[m:4] = %0, %5: i64 = %3) {\n    %6: f32[m:4, k:8] "
           "= load a(m, k)\n"
           "    %7: f32[m:4] = reduce_sum<k> %6\n    %8: f32[m:4] = add %4, %7\n    %9: i64 = constant 1\n"
           "    %10: i64 = add %5, %9\n    yield %8, %10\n  } results %11, %12\n  store c(m), %11\n"));
}

TEST(Rewrite, ALoopsBodyMayBeEmittedTwice) {
  // the body once more before the loop, as a prologue
  Program p = parse(R"(program twice stage masked {
  dim K
  axis k:8 loop K
  out c: i64(K)
  %0: i64 = constant 0
  %1: i64 = size K
  sequential k from %0 until %1 start %2 {
    %3: i64[k:8] = index k at %2
    store c(k at %2), %3
  }
}
)");
  Program unrolled = rewrite(p, [](Rewriter& r, const Inst& inst) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return false;
    r.replace(loop->start, r.map(loop->begin));
    r.copy_block(loop->body);
    r.copy_loop(inst);
    return true;
  });
  verify(unrolled);
  std::string text = to_text(unrolled);
  EXPECT_NE(text.find("  %2: i64[k:8] = index k at %0\n  store c(k at %0), %2\n  sequential k from %0 until "
                      "%1 start %3 {\n"
                      "    %4: i64[k:8] = index k at %3\n    store c(k at %3), %4\n  }\n"),
            std::string::npos)
      << text;
}

TEST(Rewrite, RulesReachBranchesAndRoles) {
  // every release goes, in a branch of a role as well
  Program p = rewrite(program("gemm_roles"), [](Rewriter&, const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    return pass != nullptr && pass->step == SlotStep::release;
  });
  EXPECT_EQ(to_text(p).find("release"), std::string::npos);
  EXPECT_NE(to_text(p).find("          if %48 {\n            %50: i64 = sub %46, %9\n          }\n"),
            std::string::npos)
      << to_text(p);
}

TEST(Rewrite, BuildsRolesAndBranches) {
  // an instance of two warps each for the even and the odd half of the program
  Program p = parse(R"(program halves stage roled warps 4 {
  dim M
  axis m:64 grid M
  out c: i64(M)
  grid m
  %0: i64 = block_index
  %1: i64[m:64] registers<reg m:2x32, lane m:32x1, warp *:2x0> = index m at %0
  store c(m at %0), %1
}
)");
  const Loc loc;
  Program built = rewrite(p, [&](Rewriter& r, const Inst& inst) {
    if (!std::holds_alternative<Index>(inst.op)) return std::holds_alternative<Store>(inst.op);
    Type number{.dtype = i64};
    Role role{.warps = 2, .instances = 2};
    role.instance = r.define(number);
    role.body = r.emit_block([&] {
      ValueId first = r.emit(Binary{BinaryFn::eq, role.instance, r.map(ValueId{0})}, {.dtype = boolean}, loc);
      If branch{.condition = first};
      branch.then = r.emit_block([&] { return std::vector{r.emit(Constant{1}, number, loc)}; });
      branch.otherwise = r.emit_block([&] { return std::vector{role.instance}; });
      ValueId start = r.emit_all(std::move(branch), {number}, loc).front();
      r.replace(ValueId{0}, start);
      r.copy(r.in().body.insts[1]);
      r.copy(r.in().body.insts[2]);
      return std::vector<ValueId>();
    });
    Roles roles;
    roles.roles.push_back(std::move(role));
    r.emit_statement(std::move(roles), loc);
    return true;
  });
  verify(built);
  EXPECT_EQ(to_text(built), R"(program halves stage roled warps 4 {
  dim M
  axis m:64 grid M
  out c: i64(M)
  grid m
  %0: i64 = block_index
  roles {
    role warps 2 instances 2 instance %1 {
      %2: boolean = eq %1, %0
      if %2 {
        %3: i64 = constant 1
        yield %3
      } else {
        yield %1
      } results %4
      %5: i64[m:64] registers<reg m:2x32, lane m:32x1, warp *:2x0> = index m at %4
      store c(m at %4), %5
    }
  }
}
)");
}

TEST(Rewrite, RenumbersInOrderOfDefinition) {
  Program p = parse(kSum);
  Program shuffled = p;
  std::swap(shuffled.types[1], shuffled.types[5]);  // %1 and %5 trade numbers
  auto trade = [](ValueId& id) {
    if (index_of(id) == 1 || index_of(id) == 5) id = static_cast<ValueId>(6 - static_cast<int>(id));
  };
  trade(shuffled.body.insts[1].results[0]);
  Loop& loop = std::get<Loop>(shuffled.body.insts[3].op);
  trade(loop.begin);
  trade(loop.body.insts[1].results[0]);
  trade(std::get<Binary>(loop.body.insts[2].op).b);
  shuffled.new_value({});  // of nothing
  EXPECT_NE(shuffled, p);
  EXPECT_EQ(to_text(shuffled), kSum);
  EXPECT_EQ(renumbered(shuffled), p);
}

}  // namespace
}  // namespace tessera
