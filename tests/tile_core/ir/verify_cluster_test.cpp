#include "tests/support/golden.h"
#include "tests/tile_core/ir/verify_mistake.h"
#include "tile_core/ir/varying.h"

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
        Mistake{"gemm_cluster", "b(n_part at %21", "b(n_part at %13",
                "gemm: blocks of a cluster do not copy the same tile at the same time"},
        Mistake{"gemm_cluster", "%21: i64 = add %13, %20", "%21: i64 = add %18, %20",
                "gemm: blocks of a cluster do not copy the same tile at the same time"},
        Mistake{"gemm_cluster", "%20: i64 = mul %3, %19", "%20: i64 = mul %3, %16",
                "gemm: blocks of a cluster do not copy the same tile at the same time"},
        Mistake{"gemm_cluster", "until %8 start %22", "until %18 start %22",
                "gemm: blocks of a cluster do not copy the same tile at the same time"}));

/// What a block copies for itself, and what is made of that, differs between blocks.
TEST(VaryingInCluster, TakesWhatIsReadFromOwnSharedMemory) {
  const Program p = test::program("gemm_cluster");
  const Varying varying = varying_in_cluster(p);
  auto varies = [&](int id) { return varying(static_cast<ValueId>(id)); };
  EXPECT_TRUE(varies(3)) << "the rank";
  EXPECT_TRUE(varies(28)) << "a dot of both channels";
  EXPECT_TRUE(varies(33)) << "a sum with it";
  EXPECT_FALSE(varies(31)) << "the same columns of a vector";
  EXPECT_FALSE(varies(1)) << "a channel";

  const std::string both = "issue_dot<k> %0[%26 + 0], %1[%26 + 0]",
                    alike = "issue_dot<k> %1[%26 + 0], %1[%26 + 0]";
  EXPECT_FALSE(varying_in_cluster(test::changed("gemm_cluster", both, alike))(static_cast<ValueId>(28)))
      << "a dot of what is multicast";
}

}  // namespace
}  // namespace tessera
