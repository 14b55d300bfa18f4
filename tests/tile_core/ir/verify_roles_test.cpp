#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;

class VerifyRoles : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifyRoles, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Definitions, VerifyRoles,
    ::testing::Values(Mistake{"gemm_roles", "add %41, %36", "add %41, %50",
                              "gemm: %50 is used outside the branch that defines it"},
                      Mistake{"gemm_roles",
                              "    }\n    role warps 4 instances 2 registers 232 instance %34 {\n",
                              "      %97: i64 = constant 0\n    }\n    role warps 4 instances 2 registers "
                              "232 instance %34 {\n      %96: i64 = add %97, %97\n",
                              "gemm: %34 is used outside the role that defines it"},
                      Mistake{"gemm_roles", "add %41, %36", "add %41, %45",
                              "gemm: %45 is used outside the loop that defines it"}));

INSTANTIATE_TEST_SUITE_P(
    Types, VerifyRoles,
    ::testing::Values(
        Mistake{"gemm_roles", "%4: i64 = block_count", "%4: i32 = block_count",
                "gemm: expected the type i64, but got %4: i32"},
        Mistake{"gemm_roles", "until %23 step %4 start %25", "until %23 start %25",
                "gemm: a loop without a step carries its begin first, an i64"},
        Mistake{"gemm_roles", "until %7 start %32", "until %7 step %9 start %32",
                "gemm: a loop over an axis steps by its extent"},
        Mistake{"gemm_roles", "step %4 start %25", "step %0 start %25",
                "gemm: the step of a loop has to be an integer scalar, but got %0: bf16[mt:128, k:64] x 2"},
        Mistake{"gemm_roles", "start %25 ticket %26 {", "start %25 after %8 {\n        %26: i64 = constant 0",
                "gemm: a loop without a ticket has a first one"},
        Mistake{"gemm_roles", "ticket %33 after %31", "ticket %33 after %0",
                "gemm: the first ticket of a loop has to be an integer scalar, but got %0: bf16[mt:128, "
                "k:64] x 2"},
        Mistake{"gemm_roles", "if %53 {", "if %24 {",
                "gemm: the condition has to be a boolean scalar, but got %24: i64"},
        Mistake{"gemm_roles", "          yield %56\n", "", "gemm: one branch yields 1 values, the other 0"},
        Mistake{"gemm_roles", "          yield %56\n", "          yield %24\n",
                "gemm: a branch yields %24: i64, but the result is %57: f32[m:64, nt:32] registers<reg "
                "nt:2x1, reg m:2x8, reg nt:4x8, lane nt:4x2, lane m:8x1, warp m:4x16>"},
        Mistake{"gemm_roles", " results %57", "\n        %57: f32 = constant 0",
                "gemm: expected 1 results, but got 0"},
        Mistake{"gemm_roles", "wait_stores 0\n", "wait_stores 0\n      yield %8\n",
                "gemm: a role yields nothing"},
        Mistake{"gemm_roles", "registers 232 instance %34 {",
                "registers 232 instance %34 {\n      %99: i64 = wait_stores 0",
                "gemm: expected 0 results, but got 1"}));

INSTANTIATE_TEST_SUITE_P(
    Stages, VerifyRoles,
    ::testing::Values(
        Mistake{"gemm_roled", "stage roled", "stage laid_out",
                "gemm: channel stands only from Stage::roled to Stage::ready"},
        Mistake{"gemm_tile", "pipelined k from %1",
                "sequential * from %1 until %2 step %1 {\n  }\n  pipelined k from %1",
                "gemm: the loop has no axis yet"},
        Mistake{"gemm_mapped", "  pipelined k from %12",
                "  sequential * from %12 until %13 carry (%98: i64 = %12) {\n    yield %98\n  } results %97\n"
                "  pipelined k from %12",
                "gemm: a loop over no axis needs a step"},
        Mistake{"gemm_tile",
                "%0: f32[m:16, n:32] =", "%0: f32[m:16, n:32] pending =", "gemm: %0 is pending already"},
        Mistake{"gemm_roled", "stage roled", "stage device", "gemm: view stands only in Stage::roled"},
        Mistake{"gemm_roles", "stage ready", "stage roled", "gemm: shared memory is planned already"},
        Mistake{"gemm_roles", "c(m at %59, ns at %42)", "c(m, ns at %42)",
                "gemm: the start of axis 'm' is not a value yet"}));

INSTANTIATE_TEST_SUITE_P(
    Roles, VerifyRoles,
    ::testing::Values(
        Mistake{"gemm_roles", "warps 12", "warps 16", "gemm: the roles have 12 warps, the block has 16"},
        Mistake{"gemm_roles", "warps 4 registers 40", "warps 0 registers 40",
                "gemm: a role has 1 instances of 0 warps"},
        Mistake{"gemm_roles", "warps 4 instances 2", "warps 4 instances 8",
                "gemm: the roles take 17 barriers, a block has 16"},
        Mistake{"gemm_roles", "registers 40", "registers 44",
                "gemm: a thread has 44 registers, which is no multiple of 8 from 24 to 256"},
        Mistake{"gemm_roles", "registers 40", "registers 16",
                "gemm: a thread has 16 registers, which is no multiple of 8 from 24 to 256"},
        Mistake{"gemm_roles", "registers 40", "registers 56",
                "gemm: the roles have 66560 registers, a multiprocessor has 65536"},
        Mistake{"gemm_roles", "role warps 4 registers 40", "role warps 2 registers 40",
                "gemm: a role with registers of its own has warps 0 to 1, which are no warpgroups of 4"},
        Mistake{"gemm_roles", "commit %0[%33 + 0]\n", "commit %0[%33 + 0]\n          barrier\n",
                "gemm: an elected role runs scalars, passes slots and asks for bulk copies only"},
        Mistake{"gemm_roles", "commit %0[%33 + 0]\n",
                "commit %0[%33 + 0]\n          %98: i64[m:64] registers<reg m:64x1, lane *:32x0, warp *:4x0> "
                "= index m at %8\n",
                "gemm: an elected role runs scalars, passes slots and asks for bulk copies only"},
        Mistake{"gemm_roles", "copy_bulk b(nt at %30, k at %32) to %1[%33 + 0]",
                "copy_async b(nt at %30, k at %32) to %1[%33 + 0] vector 8",
                "gemm: an elected role runs scalars, passes slots and asks for bulk copies only"},
        Mistake{"chain_roles", "      wait %0\n", "      wait %0\n      take_turn\n",
                "chain: a role of one instance has no turns to take"},
        Mistake{"gemm_roles", "  roles {", "  barrier\n  roles {",
                "gemm: only channels and scalars stand beside the roles, and before them"},
        Mistake{"gemm_roles", "  roles {",
                "  %99: i64[m:64] registers<reg m:64x1, lane *:32x0, warp *:12x0> = index m at %8\n  roles {",
                "gemm: only channels and scalars stand beside the roles, and before them"},
        Mistake{"gemm_roles", "  roles {", "  roles {\n    role warps 12 {\n    }\n  }\n  roles {",
                "gemm: the roles are not the program's last statement"},
        Mistake{"gemm_roles", "wait_stores 0\n",
                "wait_stores 0\n      roles {\n        role warps 4 {\n        }\n      }\n",
                "gemm: the roles are not the program's last statement"},
        Mistake{"gemm_ready", "  barrier", "  take_turn",
                "gemm: slots and turns pass between roles, and the program has none"}));

INSTANTIATE_TEST_SUITE_P(
    Layouts, VerifyRoles,
    ::testing::Values(
        Mistake{"gemm_roles", "warps 4 instances 2 registers 232", "warps 2 instances 4",
                "gemm: the layout is of 32 lanes and 4 warps, but there are 32 and 2: %44: f32[m:64, nt:32] "
                "pending registers<reg nt:2x1, reg m:2x8, reg nt:4x8, lane nt:4x2, lane m:8x1, warp m:4x16>"},
        Mistake{"chain_roles", "role warps 4 {", "role warps 8 {",
                "chain: the layout is of 32 lanes and 4 warps, but there are 32 and 8: %10: f32[i:64, d:64] "
                "registers<reg d:2x1, reg i:2x8, reg d:8x8, lane d:4x2, lane i:8x1, warp i:4x16>"},
        Mistake{"chain_roles", "warps 8 {", "warps 12 {",
                "chain: the roles have 8 warps, the block has 12"}));

}  // namespace
}  // namespace tessera
