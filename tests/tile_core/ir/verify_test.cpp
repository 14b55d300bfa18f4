#include "tile_core/ir/verify.h"

#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;
using test::program;

class Verified : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Programs, Verified, ::testing::ValuesIn(test::kPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Verified, HandMadeProgramsAreRight) {
  verify(program(GetParam()));
}

TEST(Verify, NamesTheInstructionItsPlaceAndTheStage) {
  EXPECT_EQ(test::error_of(test::changed("gemm_tile", "%9: f32[n:32] = cast", "%9: f32[m:16] = cast")),
            "internal tessera error: verify gemm: expected the type f32[n:32], but got %9: f32[m:16] "
            "(Stage::tile)\n"
            "   %9: f32[m:16] = cast %8   --> hand-made:23");
}

TEST(Verify, ReductionsKeepTheOrderOfRegisters) {
  Program p = parse(
      "program p stage laid_out warps 1 {\n  dim A\n  dim B\n  dim C\n  axis a:2 all A\n  axis b:2 all B\n"
      "  axis c:2 all C\n  in x: f32(A, B, C)\n  out y: f32(A, B)\n  %0: i64 = constant 0\n"
      "  %1: f32[a:2, b:2, c:2] registers<reg a:2x1, reg b:2x1, reg c:2x1, lane *:32x0> = load x(a at %0, b "
      "at %0, c at "
      "%0)\n  %2: f32[a:2, b:2] registers<reg b:2x1, reg a:2x1, lane *:32x0> = reduce_sum<c> %1\n"
      "  store y(a at %0, b at %0), %2\n}\n");
  std::string error = test::error_of(p);
  EXPECT_EQ(
      error.substr(0, error.find(" (Stage::")),
      "internal tessera error: verify p: registers count in other orders: %1: f32[a:2, b:2, c:2] "
      "registers<reg "
      "a:2x1, reg b:2x1, reg c:2x1, lane *:32x0> and %2: f32[a:2, b:2] registers<reg b:2x1, reg a:2x1, lane "
      "*:32x0>");
}

class VerifyError : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifyError, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Definitions, VerifyError,
    ::testing::Values(
        Mistake{"gemm_tile", "add %7, %9", "add %6, %9", "gemm: %6 is used outside the loop that defines it"},
        Mistake{"gemm_tile", "dim K", "dim K\n  dim K", "gemm: two dims are named 'K'"},
        Mistake{"gemm_tile", "axis k:8", "axis z:0 all K\n  axis k:8", "gemm: axis 'z' has extent 0"},
        Mistake{"gemm_tile", "grid m, n", "grid m",
                "gemm: the grid does not list each axis of kind grid once"},
        Mistake{"gemm_tile", "store out(m, n), %11", "%12: bf16[m:16, k:8] = load a(m, k)",
                "gemm: axis 'k' stands outside its loop"},
        Mistake{"gemm_tile", "yield %6", "pipelined k from %1 until %2 {\n    }\n    yield %6",
                "gemm: a loop over axis 'k' inside a loop over it"}));

INSTANTIATE_TEST_SUITE_P(
    Types, VerifyError,
    ::testing::Values(
        Mistake{"gemm_tile", "%2: i64 = size K", "%2: i32 = size K",
                "gemm: expected the type i64, but got %2: i32"},
        Mistake{"gemm_tile", "%1: i64 = constant 0", "%1: i64 = constant 0.5", "gemm: i64 cannot hold 0.5"},
        Mistake{"gemm_tile", "%1: i64 = constant 0", "%1: i64 = constant inf", "gemm: i64 cannot hold inf"},
        Mistake{"gemm_tile", "%9: f32[n:32] = cast %8", "%9: f32[n:32] = neg %8",
                "gemm: expected the type bf16[n:32], but got %9: f32[n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= add %7, %8",
                "gemm: operands of different dtypes: %7: f32[m:16, n:32] and %8: bf16[n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= lt %7, %9",
                "gemm: expected the type boolean[m:16, n:32], but got %10: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= mod %7, %9", "gemm: mod does not take %7: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= logical_and %7, %9",
                "gemm: logical_and does not take %7: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= fma %7, %8, %9",
                "gemm: fma takes f32, but got %8: bf16[n:32]"},
        Mistake{"gemm_tile", "= add %7, %9", "= select %7, %7, %9",
                "gemm: the condition has to be boolean, but got %7: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "%9: f32[n:32] = cast %8", "%9: f32[n:32] = exp %1",
                "gemm: exp does not take %1: i64"},
        Mistake{"gemm_tile", "dot<k> %4, %5 onto %3", "dot<n> %4, %5 onto %3",
                "gemm: a dot over 'n' does not take bf16[m:16, k:8]"},
        Mistake{"gemm_tile", "dot<k> %4, %5 onto %3", "dot<k> %4, %5 onto %4",
                "gemm: the accumulator has to be f32[m:16, n:32], but got %4: bf16[m:16, k:8]"},
        Mistake{"gemm_tile", "load a(m, k)", "load a(m)", "gemm: a has 2 dims, but there are 1 subscripts"},
        Mistake{"gemm_tile", "load a(m, k)", "load a(k, m)",
                "gemm: axis 'k' is not of dim M, which is dim 0 of a"},
        Mistake{"gemm_tile", "load a(m, k)", "load a(%3, k)",
                "gemm: a subscript has to be an integer scalar, but got %3: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "store out(m, n), %11", "store bias(n), %8", "gemm: bias is an input"},
        Mistake{"gemm_tile", "store out(m, n), %11", "store out(m, n), %10",
                "gemm: expected a value of type bf16[m:16, n:32], but got %10: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "%0: f32[m:16, n:32] = constant 0", "%0: f32[n:32, m:16] = constant 0",
                "gemm: a carried value changes its type: %3: f32[m:16, n:32] and %0: f32[n:32, m:16]"},
        Mistake{"gemm_tile", "until %2", "until %0",
                "gemm: the end of a loop has to be an integer scalar, but got %0: f32[m:16, n:32]"},
        Mistake{"gemm_tile", "store out(m, n), %11", "%12: f32 = store out(m, n), %11",
                "gemm: expected 0 results, but got 1"},
        Mistake{"softmax_tile", "reduce_sum<n> %4", "reduce_sum<n> %2",
                "softmax: the operand has no axis 'n': %2: f32[r:2]"},
        Mistake{"softmax_tile", "%2: f32[r:2] = reduce_max<n> %1",
                "%9: boolean[r:2, n:64] = lt %1, %1\n  %2: boolean[r:2] = reduce_max<n> %9",
                "softmax: a boolean cannot be reduced: %2: boolean[r:2, n:64]"},
        Mistake{"attention_synced", "copy_async q(%12, i at %11, d at %13) to %0 vector 8",
                "copy_async q(%12, i at %11, d at %13) to %1[0] vector 8",
                "attention: the slot holds bf16[j:8, d:8], but the tile is bf16[i:16, d:8]"},
        Mistake{"attention_synced", "write_shared %3, %54", "write_shared %3, %49",
                "attention: the slot holds bf16[i:16, j:8], but the tile is f32[i:16, j:8]"}));

INSTANTIATE_TEST_SUITE_P(
    Stages, VerifyError,
    ::testing::Values(
        Mistake{"gemm_tile", "%1: i64 = constant 0", "%1: i64 = block_index",
                "gemm: block_index stands only from Stage::mapped to Stage::ready"},
        Mistake{"gemm_tile", "load a(m, k)", "load a(m at %1, k)",
                "gemm: the start of axis 'm' is a value already"},
        Mistake{"gemm_tile", "stage tile", "stage mapped", "gemm: the start of axis 'k' is not a value yet"},
        Mistake{"gemm_tile", "stage tile", "stage tile warps 2", "gemm: the block has 2 warps"},
        Mistake{"gemm_tile", "stage tile", "stage tile shared 16", "gemm: shared memory is planned already"},
        Mistake{"gemm_tile",
                "%0: f32[m:16, n:32] =", "%0: f32[m:16, n:32] registers =", "gemm: %0 is placed already"},
        Mistake{"gemm_mapped", "start %14", "start %14 ticket %99", "gemm: the loop has a ticket already"},
        Mistake{"gemm_mapped", "%20: bf16[n:32]", "%20: bf16[n:32] registers", "gemm: %20 is placed already"},
        Mistake{"gemm_mapped", "stage mapped", "stage placed", "gemm: %11 is not placed yet"},
        Mistake{"gemm_placed", "%21: f32[n:32] registers", "%21: f32[n:32] shared",
                "gemm: %21 cannot be made in shared memory"},
        Mistake{"gemm_placed", "%20: bf16[n:32] registers", "%20: bf16[n:32] shared",
                "gemm: %20 is in shared memory, but the operation takes registers"},
        Mistake{"gemm_placed", "%20: bf16[n:32] registers", "%20: bf16[n:32] registers<lane n:32x1>",
                "gemm: %20 has a layout already"},
        Mistake{"gemm_placed", "%13: i64 =", "%13: i64 registers =", "gemm: %13 needs no place"},
        Mistake{"gemm_laid_out", "warps 2", "", "gemm: the block has 0 warps"},
        Mistake{"gemm_laid_out", "stage laid_out", "stage device", "gemm: %16 is a tile in shared memory"},
        Mistake{"gemm_device", "  store", "  barrier\n  store",
                "gemm: barrier stands only from Stage::synced to Stage::ready"},
        Mistake{"gemm_device", "%15: i64 = size K", "%15: i64 x 2 = size K", "gemm: %15 is a channel"},
        Mistake{"gemm_device", "stage device", "stage laid_out",
                "gemm: channel stands only from Stage::roled to Stage::ready"}));

INSTANTIATE_TEST_SUITE_P(
    Layouts, VerifyError,
    ::testing::Values(
        Mistake{"gemm_laid_out", "%20: bf16[n:32] registers<reg n:2x16,",
                "%20: bf16[n:32] registers<reg n:2x8,",
                "gemm: the layout does not hold each lane of axis 'n' once: %20: bf16[n:32] registers<reg "
                "n:2x8, lane n:16x1, lane *:2x0, warp *:2x0>"},
        Mistake{"gemm_laid_out", "%20: bf16[n:32] registers<reg n:2x16,",
                "%20: bf16[n:32] registers<reg n:4x16,",
                "gemm: the layout does not hold each lane of axis 'n' once: %20: bf16[n:32] registers<reg "
                "n:4x16, lane n:16x1, lane *:2x0, warp *:2x0>"},
        Mistake{"gemm_laid_out", "%20: bf16[n:32] registers<reg n:2x16,",
                "%20: bf16[n:32] registers<reg m:2x1, reg n:2x16,",
                "gemm: the layout has an axis that the tile has not: %20: bf16[n:32] registers<reg m:2x1, "
                "reg n:2x16, lane n:16x1, lane *:2x0, warp *:2x0>"},
        Mistake{"gemm_laid_out", "warps 2", "warps 1",
                "gemm: the layout is of 32 lanes and 2 warps, but there are 32 and 1: %11: f32[m:16, n:32] "
                "registers<reg n:2x16, reg m:4x4, lane n:16x1, lane m:2x1, warp m:2x2>"},
        Mistake{"gemm_laid_out", "%20: bf16[n:32] registers<reg n:2x16, lane n:16x1, lane *:2x0,",
                "%20: bf16[n:32] registers<reg n:2x16, lane n:16x1,",
                "gemm: the layout is of 16 lanes and 2 warps, but there are 32 and 2: %20: bf16[n:32] "
                "registers<reg n:2x16, lane n:16x1, warp *:2x0>"},
        Mistake{"gemm_laid_out", "%20: bf16[n:32] registers<reg n:2x16, lane n:16x1, lane *:2x0, warp *:2x0>",
                "%20: bf16[n:32] registers<reg n:2x16, lane n:16x1, lane *:2x0>",
                "gemm: the layout is of 32 lanes and 1 warps, but there are 32 and 2: %20: bf16[n:32] "
                "registers<reg n:2x16, lane n:16x1, lane *:2x0>"},
        Mistake{
            "gemm_laid_out", "%23: bf16[m:16, n:32] registers<reg n:2x16, reg m:4x4,",
            "%23: bf16[m:16, n:32] registers<reg m:4x4, reg n:2x16,",
            "gemm: registers count in other orders: %23: bf16[m:16, n:32] registers<reg m:4x4, reg n:2x16, "
            "lane "
            "n:16x1, lane m:2x1, warp m:2x2> and %22: f32[m:16, n:32] registers<reg n:2x16, reg m:4x4, lane "
            "n:16x1, lane m:2x1, warp m:2x2>"},
        Mistake{"gemm_laid_out", "%21: f32[n:32] registers<reg n:2x16, lane n:16x1, lane *:2x0,",
                "%21: f32[n:32] registers<reg n:2x16, lane *:2x0, lane n:16x1,",
                "gemm: other threads hold axis 'n' of the operand %20: bf16[n:32] registers<reg n:2x16, lane "
                "n:16x1, lane *:2x0, warp *:2x0>"},
        Mistake{"gemm_laid_out", "%11: f32[m:16, n:32] registers<reg n:2x16, reg m:4x4,",
                "%11: f32[m:16, n:32] registers<reg m:4x4, reg n:2x16,",
                "gemm: a carried value changes its type: %15: f32[m:16, n:32] registers<reg n:2x16, reg "
                "m:4x4, lane n:16x1, lane m:2x1, warp m:2x2> and %11: f32[m:16, n:32] registers<reg m:4x4, "
                "reg n:2x16, lane n:16x1, lane m:2x1, warp m:2x2>"},
        Mistake{"gemm_laid_out", "store out(m at %10, n at %7), %23",
                "%24: bf16 = constant 0\n  store out(m at %10, n at %7), %24",
                "gemm: the value has no axis 'm': %24: bf16"},
        Mistake{"gemm_laid_out", "%16: bf16[m:16, k:8] shared",
                "%16: bf16[m:16, k:8] shared<lane m:16x1, lane k:2x1, reg k:4x2>",
                "gemm: a layout is of registers, but got %16: bf16[m:16, k:8] shared<reg k:4x2, lane m:16x1, "
                "lane k:2x1>"},
        Mistake{"softmax_ready", "reduce_max<w> %14", "reduce_max<w> %13",
                "softmax: axis 'w' is spread over warps, which reduce_warp is for"},
        Mistake{"softmax_ready", "lane *:32x0, warp w:2x1> = reduce_warp_max",
                "lane *:32x0, warp *:2x0> = reduce_warp_max",
                "softmax: the layout does not hold each lane of axis 'w' once: %13: f32[r:2, w:2] "
                "registers<reg r:2x1, lane *:32x0, warp *:2x0>"}));

INSTANTIATE_TEST_SUITE_P(
    SharedMemory, VerifyError,
    ::testing::Values(
        Mistake{"gemm_ready", "offset 1536", "offset 1520",
                "gemm: the channel begins at byte 1520, but the piece below ends at 1536"},
        Mistake{"gemm_ready", "offset 1536", "offset 0",
                "gemm: the channel begins at byte 0, but the piece below ends at 1536"},
        Mistake{"gemm_ready", "offset 1536", "offset 1540",
                "gemm: the channel's offset is 1540, no multiple of 16"},
        Mistake{"gemm_ready", " offset 1536", "", "gemm: the channel's offset is -1, no multiple of 16"},
        Mistake{"gemm_ready", "shared 4608", "shared 4600",
                "gemm: 4600 bytes of shared memory, but the channels end at 4608"},
        Mistake{"gemm_ready", "shared 4608", "shared 4640",
                "gemm: 4640 bytes of shared memory, but the channels end at 4608"},
        Mistake{"gemm_synced", "order (m, k) pitch 16", "order (m, n) pitch 16",
                "gemm: the order does not name the channel's axes"},
        Mistake{"gemm_synced", "order (m, k) pitch 16", "order (m, k) pitch 4",
                "gemm: rows of 8 elements are 4 apart"},
        Mistake{"gemm_synced", "order (m, k) pitch 16", "order (m, k) pitch 16 offset 0",
                "gemm: the channel has an offset already"},
        Mistake{"gemm_synced", "order (m, k) pitch 16", "order (m, k) pitch 12",
                "gemm: accesses of 8 elements do not fit rows of 8, 12 apart"},
        Mistake{"gemm_synced", "vector 8", "vector 16", "gemm: one access of 16 elements has 32 bytes"},
        Mistake{"gemm_synced", "vector 8", "vector 1", "gemm: one access of 1 elements has 2 bytes"},
        Mistake{"gemm_synced", "copy_async a(m at %12, k at %14) to %0[0] vector 8",
                "copy_realigned a(m at %12, k at %14) to %0[0] vector 4",
                "gemm: realigned accesses are of 16 bytes, and of elements of 2, but got 8 and 2"},
        Mistake{"gemm_synced", "to %0[1]", "to %0[3]", "gemm: the channel has 3 slots, but the slot is 3"},
        Mistake{"softmax_ready", "write_shared %1, %20", "write_shared %20, %20",
                "softmax: %20 is not a channel"},
        Mistake{"attention_synced", "    wait_copies 0", "    %99: f32 x 1 = channel order () pitch 1",
                "attention: a channel inside a loop or a role"}));

}  // namespace
}  // namespace tessera
