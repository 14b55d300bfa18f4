#include "tile_core/target/bulk.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <initializer_list>

namespace tessera {
namespace {

TensorView view_of(std::initializer_list<std::int64_t> sizes, std::initializer_list<std::int64_t> strides,
                   DType dtype = bf16) {
  TensorView view{.data = reinterpret_cast<void*>(0x7f0000001000),
                  .dtype = dtype,
                  .rank = static_cast<int>(sizes.size())};
  std::ranges::copy(sizes, view.sizes.begin());
  std::ranges::copy(strides, view.strides.begin());
  return view;
}

TEST(Bulk, TensorsThatMapsExpress) {
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {768, 1}), 1), "");
  EXPECT_EQ(why_not_bulk(view_of({300, 767}, {768, 1}), 1), "")
      << "a contiguous size that is no multiple of 8";
  EXPECT_EQ(why_not_bulk(view_of({768, 300}, {1, 768}), 0), "") << "transposed";
  EXPECT_EQ(why_not_bulk(view_of({2, 4, 100, 64}, {25600, 64, 256, 1}), 3), "") << "heads inside rows";
  EXPECT_EQ(why_not_bulk(view_of({100}, {1}), 0), "");
  EXPECT_EQ(why_not_bulk(view_of({1, 64}, {0, 1}), 1), "") << "a dim of size 1 has any stride";
  EXPECT_EQ(why_not_bulk(view_of({64, 1}, {8, 5}), 1), "");
  EXPECT_EQ(why_not_bulk(view_of({std::int64_t{1} << 31, 8}, {8, 1}), 1), "");
  EXPECT_EQ(why_not_bulk(view_of({2, 8}, {(std::int64_t{1} << 39) - 8, 1}), 1), "") << "2^40 - 16 bytes";
  TensorView output = view_of({300, 768}, {768, 1});
  output.data = nullptr;
  EXPECT_EQ(why_not_bulk(output, 1), "") << "memory that is still to come is aligned";
}

TEST(Bulk, TensorsThatMapsDoNotExpress) {
  EXPECT_EQ(why_not_bulk(view_of({}, {}), -1), "it has 0 dims, and a map has 1 to 5");
  EXPECT_EQ(why_not_bulk(view_of({2, 2, 2, 2, 2, 8}, {128, 64, 32, 16, 8, 1}), 5),
            "it has 6 dims, and a map has 1 to 5");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {1536, 2}), -1), "no dim has stride 1");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {1536, 2}), 2), "no dim has stride 1");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {1536, 2}), 1),
            "dim 1 has stride 2, and a box is read along a dim of stride 1");
  TensorView shifted = view_of({300, 768}, {768, 1});
  shifted.data = reinterpret_cast<void*>(0x7f0000001008);
  EXPECT_EQ(why_not_bulk(shifted, 1), "its address 0x7f0000001008 is no multiple of 16 bytes");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {770, 1}), 1),
            "dim 0 has a stride of 1540 bytes, and a map's strides are multiples of 16");
  EXPECT_EQ(why_not_bulk(view_of({300, 770}, {770, 1}, f32), 1),
            "dim 0 has a stride of 3080 bytes, and a map's strides are multiples of 16");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {0, 1}), 1),
            "dim 0 has stride 0, and a map's strides are above 0");
  EXPECT_EQ(why_not_bulk(view_of({300, 768}, {-768, 1}), 1),
            "dim 0 has stride -768, and a map's strides are above 0");
  EXPECT_EQ(why_not_bulk(view_of({300, 0}, {768, 1}), 1), "dim 1 has size 0, and a map has no empty dim");
  EXPECT_EQ(why_not_bulk(view_of({(std::int64_t{1} << 31) + 1, 8}, {8, 1}), 1),
            "dim 0 has 2147483649 elements, and a box starts at one below 2147483648");
  for (const std::int64_t stride : {std::int64_t{1} << 39, std::int64_t{1} << 62}) {
    EXPECT_EQ(why_not_bulk(view_of({2, 8}, {stride, 1}), 1),
              "dim 0 has a stride of " + std::to_string(stride) +
                  " elements of 2 bytes, and a map's strides are below 1099511627776 bytes");
  }
}

std::string why_not_box_of(std::initializer_list<int> box, int contiguous, int swizzle, DType dtype = bf16) {
  return why_not_box(dtype, {box.begin(), box.size()}, contiguous, swizzle);
}

TEST(Bulk, Boxes) {
  EXPECT_EQ(why_not_box_of({256, 64}, 1, 128), "");
  EXPECT_EQ(why_not_box_of({16, 1, 1, 8}, 0, 32), "");
  EXPECT_EQ(why_not_box_of({1, 16}, 1, 64, f32), "");
  EXPECT_EQ(why_not_box_of({257, 64}, 1, 128), "a box of 257 elements along dim 0 is not within 1 to 256");
  EXPECT_EQ(why_not_box_of({0, 64}, 1, 128), "a box of 0 elements along dim 0 is not within 1 to 256");
  EXPECT_EQ(why_not_box_of({8, 8}, 1, 16), "a swizzle of 16 bytes is none of 32, 64 and 128");
  EXPECT_EQ(why_not_box_of({8, 32}, 1, 128),
            "a box of 32 elements of 2 bytes along dim 1 does not fill a swizzle of 128 bytes");
  EXPECT_EQ(why_not_box_of({8, 64}, 1, 128, f32),
            "a box of 64 elements of 4 bytes along dim 1 does not fill a swizzle of 128 bytes");
}

}  // namespace
}  // namespace tessera
