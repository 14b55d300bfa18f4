#include "tile_core/interpreter/buffer.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

using Values = std::vector<double>;

TEST(Buffer, IsDenseAndZero) {
  Buffer buffer(f32, {2, 3});
  EXPECT_EQ(buffer.get(), Values(6, 0));
  TensorView view = buffer.view();
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.strides[0], 3);
  EXPECT_EQ(view.strides[1], 1);
}

TEST(Buffer, RoundsToItsDtype) {
  for (DType dtype : {boolean, i32, i64, f16, bf16, f32}) {
    Buffer buffer(dtype, {2});
    buffer.set({1, 1.0 / 3});
    EXPECT_EQ(buffer.get(), (Values{1, round_to(dtype, 1.0 / 3)})) << name_of(dtype);
  }
}

TEST(Buffer, TakesStrides) {
  Buffer transposed(f32, {2, 3}, {1, 2});
  transposed.set({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(transposed.get(), (Values{1, 2, 3, 4, 5, 6}));
  const auto* memory = static_cast<const float*>(transposed.view().data);
  EXPECT_EQ(memory[1], 4);

  Buffer repeated(f32, {2, 2}, {0, 1});
  repeated.set({1, 2, 3, 4});
  EXPECT_EQ(repeated.get(), (Values{3, 4, 3, 4}));
}

TEST(Buffer, MayBeEmptyOrOneNumber) {
  EXPECT_EQ(Buffer(f32, {3, 0, 2}).get(), Values());
  EXPECT_EQ(Buffer(f32, {}).get(), Values{0});
}

TEST(Buffer, RejectsAnotherNumberOfValues) {
  Buffer buffer(f32, {2});
  EXPECT_THROW(buffer.set({1}), InternalError);
}

}  // namespace
}  // namespace tessera
