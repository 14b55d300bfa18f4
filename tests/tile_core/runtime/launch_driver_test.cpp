#include <cuda.h>

#include "tests/tile_core/runtime/driver_fixture.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/launch.h"

// Launches of kernels with maps and of persistent ones, as the driver sees them.
namespace tessera {
namespace {

using test::Calls;
using test::cuda;

class LaunchDriver : public test::DriverTest {
 protected:
  static TensorView matrix(std::uintptr_t address, std::int64_t rows, std::int64_t columns) {
    TensorView view{.data = reinterpret_cast<void*>(address), .dtype = bf16, .rank = 2};
    view.sizes = {rows, columns};
    view.strides = {columns, 1};
    return view;
  }

  void launch_kernel(std::span<const TensorView> tensors) {
    launch(kernel_, function_, tensors, {}, nullptr);
  }

  Calls encodings() const {
    Calls maps = cuda().calls;
    std::erase_if(maps, [](const std::string& call) { return !call.starts_with("map "); });
    return maps;
  }

  LoadedFunction function_{.handle = reinterpret_cast<CUfunction>(201),
                           .context = reinterpret_cast<CUcontext>(1),
                           .residence = {.multiprocessors = 132}};
  KernelText kernel_{.name = "gemm",
                     .threads = 384,
                     .shared_bytes = 200'000,
                     .parameters = {{Parameter::Kind::size, 0, 1}, {Parameter::Kind::pointer, 1}},
                     .grid = {{0, 0, 128}},
                     .maps = {{.tensor = 0, .contiguous = 1, .box = {128, 64}, .swizzle = 128},
                              {.tensor = 1, .contiguous = 1, .box = {64, 32}, .swizzle = 64}}};
};

TEST_F(LaunchDriver, MapsStandInFrontOfTheFields) {
  const TensorView tensors[] = {matrix(0x10000000, 256, 512), matrix(0x20000000, 64, 512)};
  cuda().parameter_fields = 2 * ParameterBlock::kMapFields + 2;
  launch_kernel(tensors);
  EXPECT_EQ(cuda().calls,
            (Calls{"map type 9 at 0x10000000 sizes 512,256 strides 1024 box 64,128 steps 1,1 interleave 0 "
                   "swizzle 3 promotion 3 fill 0",
                   "map type 9 at 0x20000000 sizes 512,64 strides 1024 box 32,64 steps 1,1 interleave 0 "
                   "swizzle 2 promotion 3 fill 0",
                   "launch 201 grid 2 1 1 block 384 1 1 shared 200000 stream 0 attributes 0"}));
  std::vector<std::uint64_t> expected(ParameterBlock::kMapFields, 1000);  // the fake's first map
  expected.insert(expected.end(), ParameterBlock::kMapFields, 1001);
  expected.insert(expected.end(), {512, 0x20000000});
  EXPECT_EQ(cuda().parameters, expected);

  cuda().calls.clear();
  launch_kernel(tensors);
  EXPECT_EQ(encodings(), Calls{}) << "encoded again";
  EXPECT_EQ(cuda().parameters, expected);
}

TEST_F(LaunchDriver, AnEmptyGridAsksForNoMaps) {
  const TensorView tensors[] = {matrix(0x30000000, 0, 512), matrix(0x40000000, 0, 512)};
  launch_kernel(tensors);
  EXPECT_EQ(cuda().calls, Calls{});
}

TEST_F(LaunchDriver, ATensorThatNoMapExpressesIsNotLaunched) {
  const TensorView tensors[] = {matrix(0x50000000, 256, 0), matrix(0x60000000, 64, 512)};
  try {
    launch_kernel(tensors);
    ADD_FAILURE() << "launched";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "kernel gemm: the copy engine cannot copy boxes of tensor 0: dim 1 has size 0, and a map has "
        "no empty dim; pass a dense tensor that is aligned to 16 bytes, or use "
        "TESSERA_POLICY=native");
  }
  EXPECT_EQ(cuda().calls, Calls{});
}

TEST_F(LaunchDriver, APersistentKernelFillsTheDevice) {
  kernel_.maps.clear();
  kernel_.persistent = true;
  const TensorView few[] = {matrix(0x70000000, 1280, 512), matrix(0x80000000, 64, 512)};
  const TensorView many[] = {matrix(0x70000000, 128 * 1000, 512), matrix(0x80000000, 64, 512)};
  launch_kernel(few);
  launch_kernel(many);
  kernel_.blocks = 2;
  launch_kernel(many);
  EXPECT_EQ(cuda().calls,
            (Calls{"launch 201 grid 10 1 1 block 384 1 1 shared 200000 stream 0 attributes 0",
                   "launch 201 grid 132 1 1 block 384 1 1 shared 200000 stream 0 attributes 0",
                   "launch 201 grid 264 1 1 block 384 1 1 shared 200000 stream 0 attributes 0"}));
}

class ZeroedOutputs : public LaunchDriver {
 protected:
  ZeroedOutputs() { kernel_.maps.clear(), kernel_.zeroed = {1}; }

  static TensorView output(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
    TensorView view{
        .data = reinterpret_cast<void*>(0x1000), .dtype = f32, .rank = static_cast<int>(sizes.size())};
    std::copy(sizes.begin(), sizes.end(), view.sizes.begin());
    std::copy(strides.begin(), strides.end(), view.strides.begin());
    return view;
  }

  Calls calls_with(const TensorView& output, std::int64_t rows = 256) {
    cuda().calls.clear();
    const TensorView tensors[] = {matrix(0x10000000, rows, 512), output};
    launch(kernel_, function_, tensors, {}, reinterpret_cast<CUstream>(7));
    return cuda().calls;
  }

  const std::string launched_ = "launch 201 grid 2 1 1 block 384 1 1 shared 200000 stream 7 attributes 0";
};

TEST_F(ZeroedOutputs, AreSetInTheStreamsOrder) {
  EXPECT_EQ(calls_with(output({64, 512}, {512, 1})),
            (Calls{"set 131072 bytes at 0x1000 to 0 stream 7", launched_}));
  EXPECT_EQ(calls_with(output({3, 64, 5}, {64, 1, 192})),
            (Calls{"set 3840 bytes at 0x1000 to 0 stream 7", launched_}))
      << "dense in another order of dims";
  EXPECT_EQ(calls_with(output({64, 1, 48}, {512, 999, 1})),
            (Calls{"set 64 rows of 192 bytes, 2048 apart, at 0x1000 to 0 stream 7", launched_}));
  EXPECT_EQ(calls_with(output({4, 64, 48}, {64 * 512, 512, 1})),
            (Calls{"set 256 rows of 192 bytes, 2048 apart, at 0x1000 to 0 stream 7", launched_}));
  EXPECT_EQ(calls_with(output({10}, {3})),
            (Calls{"set 10 rows of 4 bytes, 12 apart, at 0x1000 to 0 stream 7", launched_}));
  EXPECT_EQ(calls_with(output({64, 0}, {1, 1})), Calls{launched_});
}

TEST_F(ZeroedOutputs, AreSetWhereNothingIsLaunched) {
  EXPECT_EQ(calls_with(output({8}, {1}), 0), Calls{"set 32 bytes at 0x1000 to 0 stream 7"});
}

TEST_F(ZeroedOutputs, SayWhyTheyCannotBeSet) {
  auto error_with = [&](const TensorView& output) -> std::string {
    try {
      calls_with(output);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_with(output({4, 64, 48}, {1 << 20, 512, 1})),
            "kernel gemm: tensor 1 starts as 0, and with sizes (4, 64, 48) and strides (1048576, 512, 1) its "
            "elements are no rows that lie equally far apart; pass a dense tensor");
  EXPECT_EQ(error_with(output({4, 4}, {0, 1})),
            "kernel gemm: tensor 1 starts as 0, and with sizes (4, 4) and strides (0, 1) its elements are no "
            "rows that lie equally far apart; pass a dense tensor");
  const std::string overlap =
      "kernel gemm: tensor 1 starts as 0, and its memory and that of tensor 0 overlap; give it memory of its "
      "own";
  TensorView within = output({8}, {1});
  within.data = reinterpret_cast<void*>(0x10000000 + 512);
  EXPECT_EQ(error_with(within), overlap);
  within.data = reinterpret_cast<void*>(0x10000000 - 4);
  EXPECT_EQ(error_with(within), overlap);
  EXPECT_EQ(cuda().calls, Calls{}) << "not launched";
  cuda().set_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(error_with(output({8}, {1})).substr(0, 15), "cuMemsetD8Async");
}

}  // namespace
}  // namespace tessera
