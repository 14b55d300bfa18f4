#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;

class VerifySlots : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifySlots, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Channels, VerifySlots,
    ::testing::Values(
        Mistake{"gemm_roles", "swizzle 32 ", "swizzle 16 ",
                "gemm: a swizzle is of 32, 64 or 128 bytes, but this one of 16"},
        Mistake{"gemm_roles", "(m, ns) swizzle 32", "(m, ns) swizzle 64",
                "gemm: 64 rows of 32 bytes are no multiple of the swizzle's 8 rows of 64"},
        Mistake{"chain_roles", "%0: f16[i:64, d:64] x 1 =",
                "%98: f16[d:64] x 1 = channel order (d) swizzle 128\n  %0: f16[i:64, d:64] x 1 =",
                "chain: 1 rows of 128 bytes are no multiple of the swizzle's 8 rows of 128"},
        Mistake{"chain_roles", "%2: f16[j:32, d:64] x 2 =",
                "%98: f16[j:32, d:64] x 3 = channel order (j, d) swizzle 128 with %1\n  %2: f16[j:32, d:64] "
                "x 2 =",
                "chain: the channel has 3 slots, the one whose barriers it shares 2"},
        Mistake{
            "gemm_roled", "%2: i64 = block_index",
            "%2: i64 = block_index\n  %98: bf16[nt:32, k:64] x 2 = channel order (nt, k) swizzle 128 with %1",
            "gemm: %1 is no channel with barriers of its own"},
        Mistake{"gemm_roled", "swizzle 128 with %0", "swizzle 128 with %0 barriers 0",
                "gemm: the channel has barriers already"},
        Mistake{"gemm_roles", "offset 32768", "offset 33280",
                "gemm: the channel's offset is 33280, no multiple of 1024"},
        Mistake{"gemm_roles", " barriers 49152", "",
                "gemm: the channel's barriers are at -1, no multiple of 8"},
        Mistake{"gemm_roles", " barriers 49152", " barriers 49156",
                "gemm: the channel's barriers are at 49156, no multiple of 8"},
        Mistake{"gemm_roles", "offset 32768", "offset 32768 barriers 49152",
                "gemm: the channel has barriers, but no role passes its slots"},
        Mistake{"gemm_roles", "      wait_stores 0\n",
                "      %98: f32[m:64] x 1 = channel order (m) pitch 64 offset 0\n",
                "gemm: a channel inside a loop or a role"}));

INSTANTIATE_TEST_SUITE_P(
    Plan, VerifySlots,
    ::testing::Values(
        Mistake{"gemm_roles", "barriers 49152", "barriers 49136",
                "gemm: the channel's barriers begin at byte 49136, but the piece below ends at 49152"},
        Mistake{"gemm_roles", "barriers 49152", "barriers 49144",
                "gemm: the channel's barriers begin at byte 49144, but the piece below ends at 49152"},
        Mistake{"gemm_roles", "offset 32768", "offset 31744",
                "gemm: the channel begins at byte 31744, but the piece below ends at 32768"},
        Mistake{"gemm_roles", "offset 40960", "offset 41216",
                "gemm: the channel's barriers begin at byte 49152, but the piece below ends at 49408"},
        Mistake{"gemm_roles", "shared 49184", "shared 49152",
                "gemm: 49152 bytes of shared memory, but the channels end at 49184"}));

INSTANTIATE_TEST_SUITE_P(
    Slots, VerifySlots,
    ::testing::Values(
        Mistake{"gemm_roles", "copy_out %2[%35 + 1]", "copy_out %2[4]",
                "gemm: the channel has 4 slots, but the slot is 4"},
        Mistake{"gemm_roles", "copy_out %2[%35 + 1]", "copy_out %2[%34 + -1]",
                "gemm: the channel has 4 slots, but the slot is -1"},
        Mistake{"gemm_roles", "copy_out %2[%35 + 1]", "copy_out %35", "gemm: %35 is not a channel"},
        Mistake{"gemm_roles", "wait %0[%46 + 0]", "wait %1[%46 + 0]",
                "gemm: the slots of %1 pass with those of %0"},
        Mistake{"gemm_roles", "wait %0[%46 + 0]", "wait %0[%46 + 0, mt/m at %34]",
                "gemm: a slot passes as a whole"},
        Mistake{"chain_roles", "      wait %0\n", "      wait %0\n      acquire %0\n",
                "chain: no role releases what is acquired"},
        Mistake{"chain_roles", "      commit %0\n", "",
                "chain: no role commits what is copied, so nothing can wait for it"},
        Mistake{"chain_roles", "      copy_bulk q(i at %6, d at %4) to %0\n      commit %0\n", "",
                "chain: no role commits what is waited for"},
        Mistake{"gemm_roles", "issue_dot<k> %0[%46 + 0, mt/m at %34]",
                "issue_dot<k> %0[%46 + 0, mt/nt at %34]",
                "gemm: axis 'nt' of 32 lanes is no part of axis 'mt' of 128"},
        Mistake{"gemm_roles", "issue_dot<k> %0[%46 + 0, mt/m at %34]", "issue_dot<k> %0[%46 + 0, m/m at %34]",
                "gemm: axis 'm' is not one of bf16[mt:128, k:64]"},
        Mistake{"gemm_roles", "issue_dot<k> %0[%46 + 0, mt/m at %34]",
                "issue_dot<k> %0[%46 + 0, mt/k at %34]",
                "gemm: axis 'k' stands in bf16[mt:128, k:64] already"},
        Mistake{"gemm_roles", "issue_dot<k> %0[%46 + 0, mt/m at %34]",
                "issue_dot<k> %0[%46 + 0, mt/m at %48]",
                "gemm: the index of a part has to be an integer scalar, but got %48: boolean"},
        Mistake{"gemm_roles", "copy_out %2[%35 + 1] to", "copy_out %2[%35 + 1, ns/nt at %8] to",
                "gemm: axis 'nt' of 32 lanes is no part of axis 'ns' of 16"},
        Mistake{"gemm_roled", "view %1[%9 + 0]", "view %1[%9 + 0, nt/mt at %3]",
                "gemm: axis 'mt' of 128 lanes is no part of axis 'nt' of 32"}));

INSTANTIATE_TEST_SUITE_P(
    Ownership, VerifySlots,
    ::testing::Values(
        Mistake{"gemm_roles", "          acquire %0[%33 + 0]\n", "",
                "gemm: a slot of %0 is written, but not acquired"},
        Mistake{"gemm_roles", "acquire %0[%33 + 0]", "acquire %0[%33 + 1]",
                "gemm: a slot of %0 is written, but not acquired"},
        Mistake{"gemm_roles", "acquire %0[%33 + 0]\n", "acquire %0[%33 + 0]\n          acquire %0[%33 + 0]\n",
                "gemm: a slot of %0 is acquired twice and not committed between"},
        Mistake{"gemm_roles", "commit %0[%33 + 0]", "commit %0[%33 + 1]",
                "gemm: a slot of %0 is committed, but not acquired"},
        Mistake{"gemm_roles", "acquire %0[%33 + 0]\n", "acquire %0[%33 + 0]\n          acquire %0[%33 + 1]\n",
                "gemm: an iteration ends with other slots acquired than it begins with"},
        Mistake{"gemm_roles", "      sequential * from %3", "      acquire %0\n      sequential * from %3",
                "gemm: a role ends, but a slot of %0 is acquired and not committed"},
        Mistake{"gemm_roles", "release %0[%50 + 0]", "acquire %0[%50 + 0]",
                "gemm: the sides of a branch end with different slots acquired"},
        Mistake{"gemm_roles", "          wait %0[%46 + 0]\n", "",
                "gemm: a slot of %0 is read, but not waited for"},
        Mistake{"gemm_roles", "wait %0[%46 + 0]", "wait %0[%46 + 1]",
                "gemm: a slot of %0 is read, but not waited for"},
        Mistake{"gemm_roles", "          fence_dots\n",
                "          release %0[%46 + 0]\n          fence_dots\n",
                "gemm: a slot of %0 is read, but not waited for"},
        Mistake{"gemm_roles", "          wait %0[%46 + 0]\n",
                "          if %48 {\n            wait %0[%46 + 0]\n          }\n",
                "gemm: a slot of %0 is read, but not waited for"},
        Mistake{"gemm_roles", "commit %0[%33 + 0]\n", "commit %0[%33 + 0]\n          release %0[%33 + 0]\n",
                "gemm: a slot of %0 is released by a role that waits for none"},
        Mistake{"gemm_roles", "wait %0[%46 + 0]", "skip %0[%46 + 0]",
                "gemm: a slot of %0 is read, but not waited for"},
        Mistake{"gemm_roles", "wait %0[%46 + 0]\n", "wait %0[%46 + 0]\n          skip %0[%46 + 0]\n",
                "gemm: a slot of %0 is skipped, but waited for and not released"}));

INSTANTIATE_TEST_SUITE_P(
    Turns, VerifySlots,
    ::testing::Values(
        Mistake{"gemm_roles", "        take_turn\n", "        take_turn\n        take_turn\n",
                "gemm: a turn is taken twice and not passed between"},
        Mistake{"gemm_roles", "        take_turn\n", "", "gemm: a turn is passed, but not taken"},
        Mistake{"gemm_roles", "        pass_turn\n", "",
                "gemm: an iteration takes or passes a turn for good"},
        Mistake{"gemm_roles", "        take_turn\n", "        if %53 {\n          take_turn\n        }\n",
                "gemm: one side of a branch ends with a turn, the other without"},
        Mistake{"gemm_roles", "      wait_stores 0\n", "      wait_stores 0\n      take_turn\n",
                "gemm: a role ends, but has not passed its turn"}));

INSTANTIATE_TEST_SUITE_P(
    Copies, VerifySlots,
    ::testing::Values(Mistake{"gemm_roles", "write_shared %2[%35 + 0], %60", "write_shared %2[%35 + 0], %58",
                              "gemm: the slot holds bf16[m:64, ns:16], but the tile is bf16[m:64, nt:32]"},
                      Mistake{"gemm_roles", "to c(m at %59, ns at %42)", "to a(m at %59, ns at %42)",
                              "gemm: axis 'ns' is not of dim K, which is dim 1 of a"},
                      Mistake{"gemm_roles", "to c(m at %59, ns at %42)", "to c(m at %59, nt at %42)",
                              "gemm: expected a value of type bf16[m:64, nt:32], but got bf16[m:64, ns:16]"},
                      Mistake{"gemm_roles", "%1: bf16[nt:32, k:64] x 2 = channel order (nt, k)",
                              "%1: bf16[nt:32, k:64] x 2 = channel order (k, nt)",
                              "gemm: 64 rows of 64 bytes are no multiple of the swizzle's 8 rows of 128"},
                      Mistake{"chain_roles", "%2: f16[j:32, d:64] x 2 = channel order (j, d) swizzle 128",
                              "%2: f16[j:32, d:64] x 2 = channel order (j, d) pitch 72",
                              "chain: the copy engine takes rows of whole 16 bytes that stand together, but "
                              "got 128 bytes, 72 elements apart"},
                      Mistake{"chain_roles", "%2: f16[j:32, d:64] x 2 = channel order (j, d) swizzle 128",
                              "%2: f16[j:32, d:64] x 2 = channel order (j, d) pitch 64",
                              "chain: an issued dot reads swizzled channels, which %2 is not"}));

}  // namespace
}  // namespace tessera
