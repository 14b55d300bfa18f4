#include "tile_core/runtime/loaded_function.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include "tests/tile_core/runtime/driver_fixture.h"
#include "tests/tile_core/runtime/fake_cubin.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/launch.h"

namespace tessera {
namespace {

using test::Calls;
using test::cuda;

class LoadedFunction : public test::DriverTest {
 protected:
  tessera::LoadedFunction get(int device = 0, int shared_bytes = 0) {
    return functions_.get(cubin_, {.shared_bytes = shared_bytes}, device, nullptr);
  }

  Cubin cubin_ = test::fake_cubin("add");
  LoadedFunctions functions_;
};

TEST_F(LoadedFunction, IsLoadedOncePerContextWithRelaxedCapture) {
  const auto first = get();
  EXPECT_EQ(first.handle, reinterpret_cast<CUfunction>(201));
  EXPECT_EQ(first.residence.multiprocessors, 132);
  EXPECT_EQ(cuda().calls, (Calls{"set context 1", "capture mode 2", "load cubin in context 1 with 2 options",
                                 "function add", "capture mode 0"}));
  cuda().calls.clear();
  EXPECT_EQ(get().handle, first.handle);
  EXPECT_EQ(cuda().calls, Calls{});
}

// B98: of two devices.
TEST_F(LoadedFunction, B98EveryDeviceHasItsOwn) {
  get(0);
  cuda().calls.clear();
  EXPECT_EQ(get(1).handle, reinterpret_cast<CUfunction>(202));
  EXPECT_EQ(cuda().calls, (Calls{"set context 2", "capture mode 2", "load cubin in context 2 with 2 options",
                                 "function add", "capture mode 0"}));
  cuda().calls.clear();
  EXPECT_EQ(get(0).handle, reinterpret_cast<CUfunction>(201));
  EXPECT_EQ(cuda().calls, (Calls{"set context 1"}));
}

TEST_F(LoadedFunction, AnotherContextOfTheDeviceIsKept) {
  cuda().current_context = 3;
  EXPECT_EQ(get(0).handle, reinterpret_cast<CUfunction>(203));
  EXPECT_EQ(cuda().current_context, 3);
}

TEST_F(LoadedFunction, LargeSharedMemoryIsAskedForAtLoad) {
  get(0, 200'000);
  EXPECT_EQ(cuda().calls.at(4),
            fmt::format("attribute {} of 201 = 200000",
                        static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)));
}

TEST_F(LoadedFunction, AsksOnceHowManyClustersTheDeviceHolds) {
  const BlockShape shape{.threads = 384, .shared_bytes = 100, .cluster = 2};
  EXPECT_EQ(functions_.get(cubin_, shape, 0, nullptr).residence.clusters, 66);
  EXPECT_EQ(cuda().calls.back(), "clusters of 201 grid 132 block 384 shared 100");
  cuda().calls.clear();
  EXPECT_EQ(functions_.get(cubin_, shape, 0, nullptr).residence.clusters, 66);
  EXPECT_EQ(cuda().calls, Calls{});
}

TEST_F(LoadedFunction, IsKnownToBeLoadedInTheContextOfTheThread) {
  EXPECT_FALSE(functions_.loaded_on(0));
  get(0);
  EXPECT_TRUE(functions_.loaded_on(0));
  EXPECT_FALSE(functions_.loaded_on(1));
  cuda().current_context = 3;  // another one of device 0
  EXPECT_FALSE(functions_.loaded_on(0));
}

TEST_F(LoadedFunction, NothingIsLoadedDuringCapture) {
  get(0);
  LoadedFunctions fresh;
  cuda().capturing = true;
  cuda().calls.clear();
  EXPECT_NO_THROW(get(0)) << "what is loaded may be launched";
  try {
    fresh.get(cubin_, {}, 0, nullptr);
    ADD_FAILURE() << "loaded during capture";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel add is not loaded, and the stream captures a CUDA graph: nothing is compiled or "
                 "loaded then. The "
                 "capture stays usable; run the call once, or tessera::warmup, before capturing");
  }
  EXPECT_EQ(cuda().calls, Calls{}) << "the driver was touched";
}

TEST_F(LoadedFunction, ALegacyStreamBesideACaptureCountsAsCapturing) {
  cuda().capture_result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  EXPECT_TRUE(driver::stream_is_capturing(nullptr));
}

// B120: the driver refuses the image.
TEST_F(LoadedFunction, B120RefusalNamesDriverAndCompiler) {
  cuda().load_result = CUDA_ERROR_INVALID_IMAGE;
  cuda().version = 12040;
  try {
    get();
    ADD_FAILURE() << "loaded";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_STREQ(error.what(),
                 "cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE (the fake's text) loading kernel add, "
                 "compiled for sm_90a by "
                 "NVRTC 13.0; the driver supports CUDA 12.4");
  }
  cuda().load_result = CUDA_SUCCESS;
  EXPECT_NO_THROW(get()) << "a refusal must not be remembered";
}

TEST_F(LoadedFunction, B111AnotherArchitectureIsRefusedBeforeTheDriverSeesIt) {
  cubin_.arch = "sm_80";
  EXPECT_THROW(get(), UserError);
  for (const std::string& call : cuda().calls) EXPECT_FALSE(call.starts_with("load")) << call;
}

TEST_F(LoadedFunction, LaunchGivesGridBlockStreamAndParameters) {
  TensorView view{.data = &cuda(), .rank = 1};
  view.sizes[0] = 1000;
  const KernelText kernel{.name = "add",
                          .threads = 256,
                          .shared_bytes = 1024,
                          .parameters = {{Parameter::Kind::pointer, 0}, {Parameter::Kind::size, 0, 0}},
                          .grid = {{0, 0, 256}}};
  const auto function = get();
  cuda().calls.clear();
  cuda().parameter_fields = 2;
  auto* stream = reinterpret_cast<CUstream>(7);
  launch(kernel, function, {&view, 1}, {}, stream);
  EXPECT_EQ(cuda().calls, (Calls{"launch 201 grid 4 1 1 block 256 1 1 shared 1024 stream 7 attributes 0"}));
  EXPECT_EQ(cuda().parameters, (std::vector<std::uint64_t>{reinterpret_cast<std::uintptr_t>(&cuda()), 1000}));

  view.sizes[0] = 0;
  cuda().calls.clear();
  launch(kernel, function, {&view, 1}, {}, stream);
  EXPECT_EQ(cuda().calls, Calls{}) << "an empty grid was launched";
}

TEST_F(LoadedFunction, ARefusedLaunchSaysWhatWasLaunched) {
  cuda().launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const KernelText kernel{.name = "add", .threads = 2048, .shared_bytes = 0};
  try {
    launch(kernel, get(), {}, {}, nullptr);
    ADD_FAILURE() << "launched";
  } catch (const DriverError& error) {
    EXPECT_STREQ(error.what(),
                 "cuLaunchKernelEx: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (the fake's text) launching kernel "
                 "add with 1 blocks "
                 "of 2048 threads and 0 bytes of shared memory; an earlier kernel may be the cause: run with "
                 "CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer");
  }
}

TEST_F(LoadedFunction, DeviceFactsAreRead) {
  const driver::DeviceInfo& info = driver::device_info(1);
  EXPECT_EQ(info.name, "Fake GPU 1");
  EXPECT_EQ(info.major, 9);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.l2_bytes, 50U << 20U);
  EXPECT_EQ(driver::device_count(), 2);
}

}  // namespace
}  // namespace tessera
