#include "tile_core/runtime/tensor_map.h"

#include <cuda.h>
#include <initializer_list>
#include <thread>

#include "tests/tile_core/runtime/driver_fixture.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

using test::Calls;
using test::cuda;

TensorView view_of(std::uintptr_t address, DType dtype, std::initializer_list<std::int64_t> sizes,
                   std::initializer_list<std::int64_t> strides) {
  TensorView view{
      .data = reinterpret_cast<void*>(address), .dtype = dtype, .rank = static_cast<int>(sizes.size())};
  std::ranges::copy(sizes, view.sizes.begin());
  std::ranges::copy(strides, view.strides.begin());
  return view;
}

/// Addresses that no other map of the test program has: the memo lives as long as the thread.
std::uintptr_t fresh_address() {
  static std::uintptr_t last = 0x7f0000000000;
  return last += 0x10000;
}

class TensorMapTest : public test::DriverTest {
 protected:
  using Words = std::array<std::uint64_t, ParameterBlock::kMapFields>;

  Words encode(const TensorMap& map, const TensorView& view, int context = 1) {
    Words words{};
    encode_map(kernel_, map, view, reinterpret_cast<CUctx_st*>(static_cast<std::uintptr_t>(context)), words);
    return words;
  }

  /// The driver's arguments for a map that it is asked for.
  std::string arguments(const TensorMap& map, const TensorView& view) {
    cuda().calls.clear();
    encode(map, view);
    return cuda().calls.size() == 1 ? cuda().calls.front() : fmt::format("{} calls", cuda().calls.size());
  }

  template <typename Error = UserError>
  std::string refusal(const TensorMap& map, const TensorView& view) {
    try {
      encode(map, view);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  const KernelText kernel_{.name = "gemm"};
  const TensorMap rows_{.tensor = 1, .contiguous = 1, .box = {128, 64}, .swizzle = 128};
};

TEST_F(TensorMapTest, MatrixGoesContiguousDimFirst) {
  const std::uintptr_t at = fresh_address();
  EXPECT_EQ(arguments(rows_, view_of(at, bf16, {300, 768}, {768, 1})),
            fmt::format("map type {} at {:#x} sizes 768,300 strides 1536 box 64,128 steps 1,1 interleave {} "
                        "swizzle {} promotion {} fill {}",
                        static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16), at,
                        static_cast<int>(CU_TENSOR_MAP_INTERLEAVE_NONE),
                        static_cast<int>(CU_TENSOR_MAP_SWIZZLE_128B),
                        static_cast<int>(CU_TENSOR_MAP_L2_PROMOTION_L2_256B),
                        static_cast<int>(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
}

TEST_F(TensorMapTest, TransposedMatrixHasItsFirstDimFirst) {
  const std::uintptr_t at = fresh_address();
  EXPECT_EQ(arguments({.contiguous = 0, .box = {32, 16}, .swizzle = 64}, view_of(at, f16, {40, 50}, {1, 48})),
            fmt::format("map type {} at {:#x} sizes 40,50 strides 96 box 32,16 steps 1,1 interleave 0 "
                        "swizzle {} promotion 3 fill 0",
                        static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16), at,
                        static_cast<int>(CU_TENSOR_MAP_SWIZZLE_64B)));
}

TEST_F(TensorMapTest, OtherDimsGoFromTheLastToTheFirstWhateverTheirStrides) {
  const std::uintptr_t at = fresh_address();
  const TensorMap map{.contiguous = 3, .box = {1, 1, 128, 8}, .swizzle = 32};
  // [B, H, S, D], once as it stands and once as a view of [B, S, H, D].
  EXPECT_EQ(arguments(map, view_of(at, f32, {2, 4, 1000, 64}, {256'000, 64'000, 64, 1})),
            fmt::format("map type {} at {:#x} sizes 64,1000,4,2 strides 256,256000,1024000 box 8,128,1,1 "
                        "steps 1,1,1,1 interleave 0 swizzle {} promotion 3 fill 0",
                        static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32), at,
                        static_cast<int>(CU_TENSOR_MAP_SWIZZLE_32B)));
  EXPECT_EQ(arguments(map, view_of(at, f32, {2, 4, 1000, 64}, {256'000, 64, 256, 1})),
            fmt::format("map type {} at {:#x} sizes 64,1000,4,2 strides 1024,256,1024000 box 8,128,1,1 "
                        "steps 1,1,1,1 interleave 0 swizzle {} promotion 3 fill 0",
                        static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32), at,
                        static_cast<int>(CU_TENSOR_MAP_SWIZZLE_32B)));
}

TEST_F(TensorMapTest, VectorHasNoStrides) {
  const std::uintptr_t at = fresh_address();
  EXPECT_EQ(arguments({.contiguous = 0, .box = {32}, .swizzle = 128}, view_of(at, i32, {100}, {1})),
            fmt::format("map type {} at {:#x} sizes 100 strides  box 32 steps 1 interleave 0 swizzle 3 "
                        "promotion 3 fill 0",
                        static_cast<int>(CU_TENSOR_MAP_DATA_TYPE_INT32), at));
}

TEST_F(TensorMapTest, DimsOfSizeOneGetALegalStride) {
  const std::uintptr_t at = fresh_address();
  const TensorMap map{.contiguous = 3, .box = {1, 1, 64, 64}, .swizzle = 128};
  for (const std::int64_t any : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{7}, std::int64_t{1} << 60}) {
    EXPECT_EQ(
        arguments(map, view_of(at, bf16, {1, 1, 512, 64}, {any, any, 64, 1})),
        fmt::format("map type 9 at {:#x} sizes 64,512,1,1 strides 128,16,16 box 64,64,1,1 steps 1,1,1,1 "
                    "interleave 0 swizzle 3 promotion 3 fill 0",
                    at))
        << any;
  }
  EXPECT_EQ(
      arguments(rows_, view_of(at, bf16, {512, 1}, {8, 77})),
      fmt::format("map type 9 at {:#x} sizes 1,512 strides 16 box 64,128 steps 1,1 interleave 0 swizzle 3 "
                  "promotion 3 fill 0",
                  at))
      << "nor does a contiguous dim of size 1 need stride 1";
}

TEST_F(TensorMapTest, SameArgumentsAreEncodedOnce) {
  const TensorView view = view_of(fresh_address(), bf16, {256, 64}, {64, 1});
  const Words first = encode(rows_, view);
  EXPECT_NE(first, Words{});
  EXPECT_EQ(encode(rows_, view), first);
  EXPECT_EQ(cuda().calls.size(), 1U);
}

TEST_F(TensorMapTest, EverythingThatAMapDependsOnIsCompared) {
  const TensorView view = view_of(fresh_address(), bf16, {256, 64}, {64, 1});
  TensorMap map = rows_;
  const auto encodes_again = [&](const TensorView& other, int context) {
    encode(map, view);
    cuda().calls.clear();
    encode(map, other, context);
    return !cuda().calls.empty();
  };
  TensorView other = view;
  EXPECT_FALSE(encodes_again(other, 1));
  other.sizes[0] = 255;
  EXPECT_TRUE(encodes_again(other, 1));
  other = view;
  other.strides[0] = 128;
  EXPECT_TRUE(encodes_again(other, 1));
  other = view;
  other.dtype = f16;
  EXPECT_TRUE(encodes_again(other, 1));
  other = view;
  other.data = reinterpret_cast<void*>(fresh_address());
  EXPECT_TRUE(encodes_again(other, 1));
  EXPECT_TRUE(encodes_again(view, 2)) << "another device's context";

  encode(map, view);
  cuda().calls.clear();
  map.box = {64, 64};
  encode(map, view);
  EXPECT_EQ(cuda().calls.size(), 1U) << "another kernel's box in the same place";
  map = {.contiguous = 1, .box = {64, 32}, .swizzle = 64};
  encode(map, view);
  EXPECT_EQ(cuda().calls.size(), 2U) << "another swizzle";
}

TEST_F(TensorMapTest, ThreadsRememberTheirOwn) {
  const TensorView view = view_of(fresh_address(), bf16, {256, 64}, {64, 1});
  const Words first = encode(rows_, view);
  std::thread([&] { encode(rows_, view); }).join();
  EXPECT_EQ(cuda().calls.size(), 2U);
  EXPECT_EQ(encode(rows_, view), first);
  EXPECT_EQ(cuda().calls.size(), 2U);
}

TEST_F(TensorMapTest, InexpressibleTensorIsRefusedWithItsValues) {
  const std::uintptr_t at = fresh_address();
  EXPECT_EQ(refusal(rows_, view_of(at, bf16, {256, 64}, {0, 1})),
            "kernel gemm: the copy engine cannot copy boxes of tensor 1: dim 0 has stride 0, and a map's "
            "strides are above 0; pass a dense tensor that is aligned to 16 bytes, or use "
            "TESSERA_POLICY=native");
  EXPECT_EQ(
      refusal({.tensor = 2, .contiguous = 5, .box = {1, 1, 1, 1, 1, 64}, .swizzle = 128},
              view_of(at, bf16, {2, 2, 2, 2, 2, 64}, {1024, 512, 256, 128, 64, 1})),
      "kernel gemm: the copy engine cannot copy boxes of tensor 2: it has 6 dims, and a map has 1 to 5; "
      "pass a dense tensor that is aligned to 16 bytes, or use TESSERA_POLICY=native");
  EXPECT_EQ(
      refusal({.tensor = 0, .contiguous = 1, .box = {512, 64}, .swizzle = 128},
              view_of(at, bf16, {256, 64}, {64, 1})),
      "kernel gemm: the copy engine cannot copy boxes of tensor 0: a box of 512 elements along dim 0 is "
      "not within 1 to 256; pass a dense tensor that is aligned to 16 bytes, or use "
      "TESSERA_POLICY=native");
  EXPECT_EQ(cuda().calls, Calls{}) << "the driver was asked";
}

TEST_F(TensorMapTest, ARefusalIsNeitherRememberedNorForgetsItsPlace) {
  const TensorView good = view_of(fresh_address(), bf16, {256, 64}, {64, 1});
  TensorView bad = good;
  bad.strides[0] = 63;
  encode(rows_, good);
  EXPECT_THROW(encode(rows_, bad), UserError);
  EXPECT_THROW(encode(rows_, bad), UserError);
  EXPECT_EQ(cuda().calls.size(), 1U);
  encode(rows_, good);
  EXPECT_EQ(cuda().calls.size(), 1U);
}

TEST_F(TensorMapTest, ABoxOfAnotherRankIsOurMistake) {
  EXPECT_EQ(refusal<InternalError>(rows_, view_of(fresh_address(), bf16, {4, 256, 64}, {16384, 64, 1})),
            "internal tessera error: kernel gemm maps boxes of 2 dims of tensor 1, which has rank 3");
}

TEST_F(TensorMapTest, TheDriversRefusalSaysWhatItWasTold) {
  const std::uintptr_t at = fresh_address();
  const TensorView view = view_of(at, bf16, {300, 768}, {768, 1});
  cuda().map_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(
      refusal<DriverError>(rows_, view),
      fmt::format("cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE (the fake's text) describing tensor "
                  "1 to the copy engine for kernel gemm: bf16 at {:#x}, sizes (768, 300), strides (1536) "
                  "in bytes, box (64, 128), swizzle 128",
                  at));
  cuda().map_result = CUDA_SUCCESS;
  cuda().calls.clear();
  encode(rows_, view);
  EXPECT_EQ(cuda().calls.size(), 1U) << "a refusal must not be remembered";
}

}  // namespace
}  // namespace tessera
