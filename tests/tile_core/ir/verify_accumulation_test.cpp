#include <regex>

#include "tests/tile_core/ir/verify_mistake.h"

namespace tessera {
namespace {

/// What verify() says of a program with these statements in a role of two instances, numbered %3; %0 is the
/// block's number, %1 and %2 are 0 and 1, %4 a tile.
std::string of_instances(const std::string& statements) {
  return test::error_of(parse(R"(program sums stage roled warps 8 {
  dim N
  axis n:128 grid N
  in x: f32(N)
  out y: f32(N)
  out z: f32(N)
  grid n
  %0: i64 = block_index
  %1: i64 = constant 0
  %2: i64 = constant 1
  roles {
    role warps 4 instances 2 instance %3 {
      %4: f32[n:128] registers<lane n:32x1, warp n:4x32> = load x(n at %0)
)" + statements + "    }\n  }\n}\n"));
}

/// The same in blocks that form clusters along n; %0 is the cluster's number, %1 the block's in it, %2 a
/// tile.
std::string of_cluster(const std::string& statement) {
  return test::error_of(parse(R"(program sums stage mapped {
  dim N
  axis n:16 grid N
  in x: f32(N)
  out y: f32(N)
  grid n cluster 2 along n
  %0: i64 = cluster_index
  %1: i64 = cluster_rank
  %2: f32[n:16] = load x(n at %1)
)" + statement + "}\n"));
}

const std::string kAllAdd =
    "internal tessera error: verify sums: all 2 instances of a role add the same to y (Stage::roled)\n"
    "   accumulate y(n at %0), %4   --> program text:14";

TEST(VerifyAccumulation, OneInstanceAddsATile) {
  EXPECT_EQ(of_instances("accumulate y(n at %0), %4\n"), kAllAdd);
  EXPECT_EQ(of_instances("store y(n at %0), %4\n"), "right") << "all may store the same";
  EXPECT_EQ(of_instances("%5: i64 = add %0, %3\naccumulate y(n at %5), %4\n"), "right") << "other places";
  EXPECT_EQ(of_instances("%5: boolean = lt %3, %2\nif %5 {\naccumulate y(n at %0), %4\n}\n"), "right")
      << "one of them";
  EXPECT_EQ(of_instances("%5: boolean = lt %1, %2\nif %5 {\naccumulate y(n at %0), %4\n}\n"),
            std::regex_replace(kAllAdd, std::regex(":14"), ":16"))
      << "all of them";
  EXPECT_EQ(of_instances("sequential * from %3 until %0 step %2 start %5 ticket %6 {\n"
                         "accumulate y(n at %0), %4\n}\n"),
            "right")
      << "in other iterations";
}

TEST(VerifyAccumulation, OneBlockOfAClusterAddsATile) {
  EXPECT_EQ(of_cluster("accumulate y(n at %0), %2\n"),
            "internal tessera error: verify sums: blocks of a cluster add the same to y (Stage::mapped)\n"
            "   accumulate y(n at %0), %2   --> program text:10");
  EXPECT_EQ(of_cluster("accumulate y(n at %1), %2\n"), "right");
}

TEST(VerifyAccumulation, AnOutputIsAddedToOrStored) {
  EXPECT_EQ(of_instances("%5: i64 = add %0, %3\nstore y(n at %0), %4\naccumulate y(n at %5), %4\n"),
            "internal tessera error: verify sums: y is also stored to (Stage::roled)\n"
            "   accumulate y(n at %5), %4   --> program text:16");
  EXPECT_EQ(of_instances("%5: i64 = add %0, %3\nstore z(n at %0), %4\naccumulate y(n at %5), %4\n"), "right");
}

TEST(VerifyAccumulation, OnlyF32IsAddedTo) {
  for (const test::Mistake& mistake :
       {test::Mistake{"gemm_tile", "store out", "accumulate out",
                      "gemm: only f32 is accumulated into, but out is bf16"},
        test::Mistake{"gemm_roles", "copy_out %2[%35 + 0] to", "accumulate_out %2[%35 + 0] to",
                      "gemm: only f32 is accumulated into, but c is bf16"}})
    EXPECT_EQ(test::error_of(mistake), mistake.error);
}

}  // namespace
}  // namespace tessera
