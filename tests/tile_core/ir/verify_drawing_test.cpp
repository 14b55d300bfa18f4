#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;

class VerifyDrawing : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifyDrawing, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Launch, VerifyDrawing,
    ::testing::Values(
        Mistake{"gemm_counter", " persistent counter", " counter",
                "gemm: tiles are drawn from a counter, but blocks do not stay for another"},
        Mistake{"gemm_counter", "grid mt, n", "grid mt, n cluster 2 along n",
                "gemm: tiles are drawn from a counter, and each block of a cluster would have its own"},
        Mistake{"gemm_counter", " persistent counter", " persistent",
                "gemm: the program's tiles are not drawn from a counter"},
        Mistake{"gemm_roles", "warps 12 persistent", "warps 12 persistent counter",
                "gemm: tiles are drawn by one instruction, but the program has 0"}));

INSTANTIATE_TEST_SUITE_P(
    Draws, VerifyDrawing,
    ::testing::Values(
        Mistake{"gemm_counter", "= draw_tile %23", "= draw_tile %23\n        %99: i64 = draw_tile %23",
                "gemm: tiles are drawn by one instruction, but the program has 2"},
        Mistake{"gemm_counter", "        %26: i64 = draw_tile %23\n",
                "        %98: boolean = lt %6, %25\n        if %98 {\n          %97: i64 = draw_tile %23\n"
                "        }\n        %26: i64 = block_count\n",
                "gemm: no elected role draws a tile in every iteration of a loop"},
        Mistake{"gemm_counter", "add %26, %5", "add %26, %23",
                "gemm: the next tile is not what is drawn, plus the number of blocks"},
        Mistake{"gemm_counter", "add %26, %5", "sub %26, %5",
                "gemm: the next tile is not what is drawn, plus the number of blocks"},
        Mistake{"gemm_counter", "until %23 ticket %24", "until %22 ticket %24",
                "gemm: the loop that draws does not go from the block's number to the number of tiles"},
        Mistake{"gemm_counter", "until %23 ticket %24 carry (%25: i64 = %4)",
                "until %23 ticket %24 carry (%25: i64 = %6)",
                "gemm: a loop without a step carries its begin first, an i64"},
        Mistake{"gemm_counter", "until %23 ticket %24", "until %23 start %99 ticket %24",
                "gemm: the start of a loop without a step is its first parameter"},
        Mistake{"gemm_counter", "= draw_tile %23", "= draw_tile %0",
                "gemm: the number of tiles has to be an integer scalar, but got %0: bf16[mt:128, k:16] x 4"},
        Mistake{"gemm_counter", "%26: i64 = draw_tile", "%26: i32 = draw_tile",
                "gemm: expected the type i64, but got %26: i32"}));

INSTANTIATE_TEST_SUITE_P(
    Readers, VerifyDrawing,
    ::testing::Values(Mistake{"gemm_counter", "until %23 ticket %37",
                              "until %23 step %5 start %99 ticket %37",
                              "gemm: a loop steps through tiles that are drawn from a counter"},
                      Mistake{"gemm_counter", "until %23 ticket %37", "until %22 ticket %37",
                              "gemm: the loop goes through other tiles than the one that draws them"},
                      Mistake{"gemm_counter", "      yield %57\n", "      yield %39\n",
                              "gemm: the next tile is not read from where the drawn ones are written"},
                      Mistake{"gemm_counter", "write_shared %3[%24 + 0], %27",
                              "write_shared %3[%24 + 0], %26",
                              "gemm: the next tile is not read from where the drawn ones are written"}));

}  // namespace
}  // namespace tessera
