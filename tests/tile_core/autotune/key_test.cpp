#include "tile_core/autotune/key.h"

#include <limits>

#include "tests/tile_core/autotune/support.h"

namespace tessera::autotune {
namespace {

TEST(Key, IsOneLine) {
  Key key = linear_key(4096, 3072, 768);
  key.facts.tensors[1] = {f32, -1, 4};
  EXPECT_EQ(
      to_text(key),
      "linear K=768 M=4096 N=3072 (bf16 d1 16B, f32 strided 4B, bf16 d1 16B) bias=0 on NVIDIA H200 (sm_90a)");
  EXPECT_EQ(family(key), "linear (bf16 d1 16B, f32 strided 4B, bf16 d1 16B) bias=0 on NVIDIA H200 (sm_90a)");
}

TEST(Key, VariantsAreOneLine) {
  EXPECT_EQ(to_text(variant(128)), "m=128 n=64 warps=4");
  EXPECT_EQ(to_text(Variant{{{"d", 8}}, {}}), "d=8");
}

TEST(Key, DistanceIsTheLargestRatio) {
  const Dims a = {{"M", 100}, {"N", 30}};
  EXPECT_EQ(distance(a, a), 1);
  EXPECT_EQ(distance(a, {{"M", 50}, {"N", 30}}), 2);
  EXPECT_EQ(distance({{"M", 50}, {"N", 30}}, a), 2);
  EXPECT_EQ(distance(a, {{"M", 100}, {"N", 90}}), 3);
  constexpr double kFar = std::numeric_limits<double>::infinity();
  EXPECT_EQ(distance(a, {{"M", 100}, {"K", 30}}), kFar);
  EXPECT_EQ(distance(a, {{"M", 100}}), kFar);
  EXPECT_EQ(distance(a, {{"M", 0}, {"N", 30}}), kFar);
  EXPECT_EQ(distance({{"M", 0}}, {{"M", 0}}), 1);
}

}  // namespace
}  // namespace tessera::autotune
