#include <fmt/format.h>
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

/// The same error of an accumulation that stands in another line.
std::string all_add_at(int line) {
  return std::regex_replace(kAllAdd, std::regex(":14"), fmt::format(":{}", line));
}

const std::string kAdds = "accumulate y(n at %0), %4\n";

TEST(VerifyAccumulation, OneInstanceAddsATile) {
  EXPECT_EQ(of_instances(kAdds), kAllAdd);
  EXPECT_EQ(of_instances("store y(n at %0), %4\n"), "right") << "all may store the same";
}

TEST(VerifyAccumulation, InstancesAddInDifferentPlaces) {
  const auto at = [](const std::string& place) {
    return of_instances(place + "accumulate y(n at %5), %4\n");
  };
  const std::string error = std::regex_replace(all_add_at(15), std::regex("at %0"), "at %5");
  EXPECT_EQ(at("%5: i64 = add %0, %3\n"), "right");
  EXPECT_EQ(at("%5: i64 = sub %0, %3\n"), "right");
  EXPECT_EQ(at("%5: i64 = mul %0, %3\n"), "right") << "of the same sign, or of an empty tensor";
  EXPECT_EQ(at("%5: i64 = mul %1, %3\n"), error) << "0 times the number";
  EXPECT_EQ(at("%5: i64 = sub %3, %3\n"), error);
  EXPECT_EQ(at("%5: i64 = min %0, %3\n"), error) << "perhaps the same";
  EXPECT_EQ(at("%5: i64 = mod %3, %2\n"), error) << "of 1 always 0";
}

TEST(VerifyAccumulation, OneInstanceGoesWhereATileIsAdded) {
  const auto where = [](const std::string& condition, bool otherwise = false) {
    const std::string other = otherwise ? "} else {\n" : "";
    return of_instances("%5: i64 = constant 2\n%6: boolean = " + condition + "\nif %6 {\n" + other + kAdds +
                        "}\n");
  };
  EXPECT_EQ(where("lt %3, %2"), "right");
  EXPECT_EQ(where("eq %3, %2"), "right");
  EXPECT_EQ(where("lt %3, %2", true), "right");
  EXPECT_EQ(where("lt %5, %3"), "right") << "none of them";
  EXPECT_EQ(where("lt %5, %3", true), all_add_at(18)) << "none there, all here";
  EXPECT_EQ(where("lt %3, %5"), all_add_at(17)) << "both are below 2";
  EXPECT_EQ(where("lt %1, %2"), all_add_at(17)) << "all of them";
  EXPECT_EQ(where("lt %3, %0"), all_add_at(17)) << "nobody knows how many";
}

TEST(VerifyAccumulation, InstancesAddInDifferentIterations) {
  const auto loop = [](const std::string& step, const std::string& begin = "add %0, %3") {
    return of_instances("%5: i64 = constant 2\n%6: i64 = " + step + "\n%7: i64 = " + begin +
                        "\nsequential * from %7 until %0 step %6 start %8 ticket %9 {\n" + kAdds + "}\n");
  };
  EXPECT_EQ(loop("mul %5, %2"), "right") << "every second";
  EXPECT_EQ(loop("mul %2, %2"), all_add_at(18)) << "one after the other";
  EXPECT_EQ(loop("mul %0, %5"), all_add_at(18)) << "as far apart as nobody knows";
  EXPECT_EQ(loop("mul %0, %5", "mul %0, %3"), "right") << "half a step apart";
  EXPECT_EQ(loop("mul %0, %2", "mul %0, %3"), all_add_at(18)) << "a step apart";
}

TEST(VerifyAccumulation, OneBlockOfAClusterAddsATile) {
  const auto error = [](const char* statement, int line) {
    return fmt::format(
        "internal tessera error: verify sums: blocks of a cluster add the same to y (Stage::mapped)\n"
        "   {}   --> program text:{}",
        statement, line);
  };
  EXPECT_EQ(of_cluster("accumulate y(n at %0), %2\n"), error("accumulate y(n at %0), %2", 10));
  EXPECT_EQ(of_cluster("accumulate y(n at %1), %2\n"), "right");
  EXPECT_EQ(of_cluster("%3: i64 = min %1, %0\naccumulate y(n at %3), %2\n"),
            error("accumulate y(n at %3), %2", 11));
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
