#include "tests/support/golden.h"
#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

using test::Mistake;

class VerifyCluster : public ::testing::TestWithParam<Mistake> {};

TEST_P(VerifyCluster, SaysWhatIsWrong) {
  EXPECT_EQ(test::error_of(GetParam()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, VerifyCluster,
    ::testing::Values(
        Mistake{"gemm_cluster", " cluster 2 along m", "", "gemm: the program's blocks form no clusters"},
        Mistake{"gemm_cluster", "cluster 2 along m", "cluster 2 along k",
                "gemm: the blocks of a cluster are no neighbours along a grid axis"},
        Mistake{"gemm_cluster", "cluster 2 along m", "cluster 9 along m",
                "gemm: a cluster has 9 blocks, not 2 to 8"},
        Mistake{"gemm_cluster", "cluster 2 along m", "cluster 4 along m",
                "gemm: the 4 blocks of a cluster do not copy the parts of a slot by their rank"},
        Mistake{"gemm_cluster", "n/n_part at %3]", "n/n_part at %4]",
                "gemm: the 2 blocks of a cluster do not copy the parts of a slot by their rank"},
        Mistake{"gemm_cluster", "k at %22) to %1", "k at %3) to %1",
                "gemm: blocks of a cluster do not copy the same tile at the same time"},
        Mistake{"gemm_cluster", "until %8 start %22", "until %18 start %22",
                "gemm: blocks of a cluster do not copy the same tile at the same time"}));

}  // namespace
}  // namespace tessera
