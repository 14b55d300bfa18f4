#include <fmt/format.h>

#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;

class VerifyDots : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifyDots, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Types, VerifyDots,
    ::testing::Values(
        Mistake{"chain_roles", "= wait_dots 0 %14", "= cast %14",
                "chain: the dot of %14: f32[i:64, j:32] pending registers<reg j:2x1, reg i:2x8, reg j:4x8, "
                "lane j:4x2, lane i:8x1, warp i:4x16> is in flight: a wait_dots has to stand before"},
        Mistake{"chain_roles", "issue_dot<j> %16, %2", "issue_dot<j> %14, %2",
                "chain: the dot of %14: f32[i:64, j:32] pending registers<reg j:2x1, reg i:2x8, reg j:4x8, "
                "lane j:4x2, lane i:8x1, warp i:4x16> is in flight: a wait_dots has to stand before"},
        Mistake{"chain_roles", "= issue_dot<d> %0,", "= issue_dot<j> %0,",
                "chain: a dot over 'j' does not take f16[i:64, d:64]"},
        Mistake{"gemm_tile", "dot<k>", "dot<k, tf32>",
                "gemm: a dot in tf32 takes f32, but got bf16[m:16, k:8]"},
        Mistake{"chain_roles", "%16: f16", "%16: bf16",
                "chain: an issued dot takes matrices of one dtype, f16 or bf16, but got bf16[i:64, j:32] "
                "registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> and "
                "f16[j:32, d:64]"},
        Mistake{"chain_roles", "%14: f32[i:64, j:32] pending", "%14: f32[i:64, j:32]",
                "chain: the result of an issued dot is pending, but got %14: f32[i:64, j:32] registers<reg "
                "j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"chain_roles", "%18: f32[i:64, d:64] registers", "%18: f32[i:64, d:64] pending registers",
                "chain: a carried value changes its type: %13: f32[i:64, d:64] registers<reg d:2x1, reg "
                "i:2x8, reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16> and %18: f32[i:64, d:64] pending "
                "registers<reg d:2x1, reg i:2x8, reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"chain_roles", "%2[%12 + 0] onto %13", "%2[%12 + 0] onto %15",
                "chain: the accumulator has to be f32[i:64, d:64], but got %15: f32[i:64, j:32] "
                "registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"chain_roles", "%2[%12 + 0] onto %13", "%2[%12 + 0] onto %13 if %12",
                "chain: the condition has to be a boolean scalar, but got %12: i64"},
        Mistake{"chain_roles", "%1[%12 + 0]\n        commit_dots", "%1[%12 + 0] if %12\n        commit_dots",
                "chain: the condition has to be a boolean scalar, but got %12: i64"},
        Mistake{"chain_roles", "= wait_dots 0 %17", "= wait_dots 0 %13",
                "chain: a wait for dots takes pending values, but got %13: f32[i:64, d:64] registers<reg "
                "d:2x1, reg i:2x8, reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"gemm_roles", "= slice %58 nt/ns at 1", "= slice %58 nt/ns at 2", "gemm: slice 2 of 2"},
        Mistake{"gemm_roles", "= slice %58 nt/ns at 1", "= slice %58 m/ns at 1",
                "gemm: axis 'ns' of 16 lanes is no part of axis 'm' of 64"},
        Mistake{"gemm_roles", "= slice %58 nt/ns at 1", "= slice %58 nt/m at 1",
                "gemm: axis 'm' stands in bf16[m:64, nt:32] registers<reg nt:2x1, reg m:2x8, reg nt:4x8, "
                "lane nt:4x2, lane m:8x1, warp m:4x16> already"}));

INSTANTIATE_TEST_SUITE_P(
    Layouts, VerifyDots,
    ::testing::Values(
        Mistake{"chain_roles",
                "%14: f32[i:64, j:32] pending registers<reg j:2x1, reg i:2x8, reg j:4x8, lane "
                "j:4x2, lane i:8x1, warp i:4x16>",
                "%14: f32[i:64, j:32] pending registers<reg j:2x1, reg j:4x8, reg i:2x8, lane "
                "j:4x2, lane i:8x1, warp i:4x16>",
                "chain: the layout has to be <reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, "
                "lane i:8x1, warp i:4x16>, but got %14: f32[i:64, j:32] pending registers<reg "
                "j:2x1, reg j:4x8, reg i:2x8, lane j:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"chain_roles",
                "%16: f16[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, "
                "lane i:8x1, warp i:4x16>",
                "%16: f16[i:64, j:32] registers<reg i:2x8, reg j:2x1, reg j:4x8, lane j:4x2, "
                "lane i:8x1, warp i:4x16>",
                "chain: registers count in other orders: %16: f16[i:64, j:32] registers<reg i:2x8, reg "
                "j:2x1, reg j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> and %15: f32[i:64, j:32] "
                "registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"gemm_roles",
                "%60: bf16[m:64, ns:16] registers<reg ns:2x1, reg m:2x8, reg ns:2x8, lane "
                "ns:4x2, lane m:8x1, warp m:4x16>",
                "%60: bf16[m:64, ns:16] registers<reg ns:2x1, reg ns:2x8, reg m:2x8, lane "
                "ns:4x2, lane m:8x1, warp m:4x16>",
                "gemm: the layout has to be <reg ns:2x1, reg m:2x8, reg ns:2x8, lane ns:4x2, "
                "lane m:8x1, warp m:4x16>, but got %60: bf16[m:64, ns:16] registers<reg "
                "ns:2x1, reg ns:2x8, reg m:2x8, lane ns:4x2, lane m:8x1, warp m:4x16>"}));

INSTANTIATE_TEST_SUITE_P(
    Steps, VerifyDots,
    ::testing::Values(
        Mistake{"gemm_roles", "          fence_dots\n", "",
                "gemm: no fence_dots stands before the first dot of its group"},
        Mistake{"gemm_roles", "          commit_dots\n", "",
                "gemm: the dot of %49 is not committed where an iteration ends"},
        Mistake{"gemm_roles", "          commit_dots\n          wait_dots 1\n",
                "          commit_dots\n          fence_dots\n          %96: f32[m:64, nt:32] pending "
                "registers<reg nt:2x1, reg m:2x8, reg nt:4x8, lane nt:4x2, lane m:8x1, warp m:4x16> = "
                "issue_dot<k> %0[%46 + 0, mt/m at %34], %1[%46 + 0] onto %47\n          commit_dots\n",
                "gemm: a dot or a wait has gone on from %47 already"},
        Mistake{"gemm_roles", "          commit_dots\n          wait_dots 1\n",
                "          %96: f32[m:64, nt:32] pending registers<reg nt:2x1, reg m:2x8, reg nt:4x8, lane "
                "nt:4x2, lane m:8x1, warp m:4x16> = issue_dot<k> %0[%46 + 0, mt/m at %34], %1[%46 + 0]\n     "
                "     commit_dots\n          wait_dots 1\n",
                "gemm: the dot of %50 is in flight where an iteration ends, but the loop does not carry it"},
        Mistake{"gemm_roles", "          commit_dots\n          wait_dots 1\n",
                "          commit_dots\n          %96: f32[m:64, nt:32] registers<reg nt:2x1, reg m:2x8, reg "
                "nt:4x8, lane nt:4x2, lane m:8x1, warp m:4x16> = wait_dots 1 %49\n",
                "gemm: the wait does not cover the dot of %49"},
        Mistake{"chain_roles",
                "        commit_dots\n        %15: f32[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg "
                "j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> = wait_dots 0 %14",
                "        commit_dots\n        %15: f32[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg "
                "j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> = wait_dots 1 %14",
                "chain: the wait does not cover the dot of %14"},
        Mistake{"chain_roles",
                "        fence_dots\n        %17: f32[i:64, d:64] pending registers<reg d:2x1, reg i:2x8, "
                "reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16> = issue_dot<j> %16, %2[%12 + 0] onto %13\n  "
                "      commit_dots\n",
                "        fence_dots\n        %17: f32[i:64, d:64] pending registers<reg d:2x1, reg i:2x8, "
                "reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16> = issue_dot<j> %16, %2[%12 + 0] onto %13\n",
                "chain: the wait does not cover the dot of %17"},
        Mistake{"chain_roles",
                "        %16: f16[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane "
                "i:8x1, warp i:4x16> = cast %15\n        wait %2[%12 + 0]\n        fence_dots\n",
                "        fence_dots\n        %16: f16[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg j:4x8, "
                "lane j:4x2, lane i:8x1, warp i:4x16> = cast %15\n        wait %2[%12 + 0]\n",
                "chain: %16 is written after the fence_dots of its dot"},
        Mistake{"chain_roles",
                "        commit_dots\n        %15: f32[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg "
                "j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> = wait_dots 0 %14\n",
                "        commit_dots\n        sequential * from %4 until %7 step %5 start %96 {\n        }\n "
                "       %15: f32[i:64, j:32] registers<reg j:2x1, reg i:2x8, reg j:4x8, lane j:4x2, lane "
                "i:8x1, warp i:4x16> = wait_dots 0 %14\n",
                "chain: the dot of %14 is in flight where a loop begins, but the loop does not carry it"},
        Mistake{"chain_roles",
                "      %20: f16[i:64, d:64] registers<reg d:2x1, reg i:2x8, reg d:8x8, lane d:4x2, lane "
                "i:8x1, warp i:4x16> = cast %19\n",
                "      wait %1[0]\n      fence_dots\n      %97: f32[i:64, j:32] pending registers<reg j:2x1, "
                "reg i:2x8, reg "
                "j:4x8, lane j:4x2, lane i:8x1, warp i:4x16> = issue_dot<d> %0, %1[0]\n      commit_dots\n   "
                "   %20: f16[i:64, d:64] registers<reg d:2x1, reg i:2x8, reg d:8x8, lane d:4x2, lane i:8x1, "
                "warp i:4x16> = cast %19\n",
                "chain: the dot of %20 is in flight where its role ends"}));

/// A loop that carries two accumulators, by its carried values and its body. ACC: the accumulators' type,
/// DOT: a dot of two slots.
struct Step {
  const char* carried;
  const char* body;
  const char* error;
};
void PrintTo(const Step& step, std::ostream* out) {
  *out << step.body;
}

Program loop_of(const Step& step) {
  std::string text = fmt::format(R"(program steps stage device warps 4 {{
  dim M
  dim N
  dim K
  axis m:64 grid M
  axis n:16 grid N
  axis k:16 loop K
  grid m, n
  %0: bf16[m:64, k:16] x 2 = channel order (m, k) swizzle 32
  %1: bf16[n:16, k:16] x 2 = channel order (n, k) swizzle 32
  %2: ACC pending REGS = undefined
  %3: bf16[m:64, k:16] registers<reg k:2x1, reg m:2x8, reg k:2x8, lane k:4x2, lane m:8x1, warp m:4x16> = undefined
  %4: i64 = constant 0
  %5: i64 = size K
  sequential k from %4 until %5 start %6 ticket %7 carry ({}) {{
{}  }} results %98, %99
  wait_dots 0
}}
)",
                                 step.carried, step.body);
  const std::pair<std::string, std::string> shorthands[] = {
      {"ACC", "f32[m:64, n:16]"},
      {"REGS", "registers<reg n:2x1, reg m:2x8, reg n:2x8, lane n:4x2, lane m:8x1, warp m:4x16>"},
      {"TILE",
       "bf16[m:64, k:16] registers<reg k:2x1, reg m:2x8, reg k:2x8, lane k:4x2, lane m:8x1, warp m:4x16>"},
      {"DOT", "issue_dot<k> %0[%7 + 0], %1[%7 + 0]"}};
  for (const auto& [from, to] : shorthands) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
      text.replace(at, from.size(), to);
  }
  return parse(text);
}

class VerifySteps : public ::testing::TestWithParam<Step> {};

TEST_P(VerifySteps, SaysWhatIsWrong) {
  std::string error = test::error_of(loop_of(GetParam()));
  error = error.substr(0, error.find(" (Stage::"));
  std::string prefix = "internal tessera error: verify steps: ";
  EXPECT_EQ(error.starts_with(prefix) ? error.substr(prefix.size()) : error, GetParam().error);
}

constexpr const char* kTwo = "%10: ACC pending REGS = %2, %11: ACC pending REGS = %2";
constexpr const char* kOneAndTile = "%10: ACC pending REGS = %2, %11: TILE = %3";

INSTANTIATE_TEST_SUITE_P(
    Steps, VerifySteps,
    ::testing::Values(
        // The dots of the iteration before are waited for first.
        Step{kTwo,
             "%20: ACC REGS, %21: ACC REGS = wait_dots 0 %10, %11\nfence_dots\n"
             "%22: ACC pending REGS = DOT onto %20\n%23: ACC pending REGS = DOT onto %21\ncommit_dots\n"
             "yield %22, %23\n",
             "right"},
        // Nothing but dots touches the accumulators.
        Step{kTwo,
             "fence_dots\n%22: ACC pending REGS = DOT onto %10\n%23: ACC pending REGS = DOT onto %11\n"
             "commit_dots\nwait_dots 1\nyield %22, %23\n",
             "right"},
        Step{kTwo,
             "fence_dots\n%22: ACC pending REGS = DOT onto %10\ncommit_dots\n"
             "%20: ACC REGS = wait_dots 1 %11\nyield %22, %20\n",
             "a dot is read in an iteration that issued dots over those of the one before: begin it with "
             "wait_dots 0"},
        Step{
            kTwo,
            "%20: ACC REGS = wait_dots 1 %10\nfence_dots\n%22: ACC pending REGS = DOT onto %20\ncommit_dots\n"
            "fence_dots\n%23: ACC pending REGS = DOT onto %11\ncommit_dots\nyield %22, %23\n",
            "the dot of %8 was issued in the iteration before: only wait_dots 0 ends it"},
        Step{
            kTwo,
            "%20: ACC REGS = wait_dots 1 %11\nfence_dots\n%22: ACC pending REGS = DOT onto %10\ncommit_dots\n"
            "fence_dots\n%23: ACC pending REGS = DOT onto %20\ncommit_dots\nyield %22, %23\n",
            "the wait does not cover the dot of %9"},
        Step{kTwo,
             "%20: boolean = lt %4, %6\nif %20 {\nfence_dots\n%22: ACC pending REGS = DOT onto %10\n"
             "commit_dots\nyield %22\n} else {\nyield %10\n} results %23\nyield %23, %11\n",
             "right"},
        Step{kTwo,
             "%20: boolean = lt %4, %6\nif %20 {\nfence_dots\n} else {\n}\n"
             "%22: ACC pending REGS = DOT onto %10\ncommit_dots\nyield %22, %11\n",
             "no fence_dots stands before the first dot of its group"},
        // A dot in flight reads its first operand from registers.
        Step{kTwo,
             "%20: TILE = constant 1\nfence_dots\n%22: ACC pending REGS = issue_dot<k> %20, %1[%7 + 0] onto "
             "%10\ncommit_dots\nyield %22, %11\n",
             "a dot in flight reads %10, which is written again"},
        Step{kOneAndTile,
             "%20: TILE = constant 1\nfence_dots\n%22: ACC pending REGS = issue_dot<k> %11, %1[%7 + 0] onto "
             "%10\ncommit_dots\nyield %22, %20\n",
             "a dot in flight reads %9, which is written again"},
        Step{kOneAndTile,
             "%20: TILE = constant 1\nfence_dots\n%22: ACC pending REGS = issue_dot<k> %11, %1[%7 + 0] onto "
             "%10\ncommit_dots\nyield %22, %11\n",
             "right"}));

}  // namespace
}  // namespace tessera
