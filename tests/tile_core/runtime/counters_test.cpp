#include "tile_core/runtime/counters.h"

#include <cuda.h>

#include "tests/tile_core/runtime/driver_fixture.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/launch.h"

// Which launches share the counter that they draw their tiles from, as the driver sees it.
namespace tessera {
namespace {

using test::Calls;
using test::cuda;

CUstream stream(std::uintptr_t number) {
  return reinterpret_cast<CUstream>(number);
}

class CountersOfLaunches : public test::DriverTest {
 protected:
  int number(std::uintptr_t of) { return counters_.take("gemm", stream(of)).number; }

  Counters counters_;
};

TEST_F(CountersOfLaunches, AStreamHasOneForAllOfItsLaunches) {
  EXPECT_EQ(number(7), 0);
  EXPECT_EQ(number(8), 1);
  EXPECT_EQ(number(0), 2);
  EXPECT_EQ(number(7), 0);
  EXPECT_EQ(cuda().calls, Calls{});
}

TEST_F(CountersOfLaunches, StreamsThatAreGoneAreWaitedFor) {
  for (int i = 0; i < Counters::kOfStreams; ++i) EXPECT_EQ(number(static_cast<std::uintptr_t>(i)), i);
  EXPECT_EQ(cuda().calls, Calls{});
  EXPECT_EQ(number(Counters::kOfStreams), 0);
  EXPECT_EQ(cuda().calls, Calls{"wait for the context"});
  EXPECT_EQ(number(5), 1);
}

TEST_F(CountersOfLaunches, EveryLaunchOfAGraphHasItsOwnUntilTheGraphIsGone) {
  EXPECT_EQ(number(7), 0);
  cuda().capturing = true;
  EXPECT_EQ(number(7), Counters::kOfStreams);
  EXPECT_EQ(number(7), Counters::kOfStreams + 1);
  EXPECT_EQ(cuda().calls, (Calls{"user object", "graph 7 holds 1 of object 1 flags 1", "user object",
                                 "graph 7 holds 1 of object 2 flags 1"}));
  cuda().destroyed.at(0)();
  EXPECT_EQ(number(9), Counters::kOfStreams);
  EXPECT_EQ(number(9), Counters::kOfStreams + 2);
  cuda().capturing = false;
  EXPECT_EQ(number(7), 0);
}

TEST_F(CountersOfLaunches, ThereAreNoMoreThanTheModuleHas) {
  cuda().capturing = true;
  for (int i = Counters::kOfStreams; i < kCounters; ++i) EXPECT_EQ(number(7), i);
  try {
    number(7);
    ADD_FAILURE() << "one more";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "kernel gemm: CUDA graphs hold 49152 launches of it, each with a counter that it draws its tiles "
        "from, and there are no more; destroy graphs, or choose a plan without grid=counter; the "
        "capture stays usable");
  }
  cuda().destroyed.at(3)();
  EXPECT_EQ(number(7), Counters::kOfStreams + 3);
}

TEST_F(CountersOfLaunches, WhatNoGraphHoldsIsFree) {
  cuda().capturing = true;
  cuda().user_object_result = CUDA_ERROR_INVALID_VALUE;
  try {
    number(7);
    ADD_FAILURE() << "taken";
  } catch (const DriverError& error) {
    EXPECT_STREQ(
        error.what(),
        "cuUserObjectCreate: CUDA_ERROR_INVALID_VALUE (the fake's text) having a graph give a counter back");
  }
  cuda().user_object_result = CUDA_SUCCESS;
  cuda().retain_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THROW(number(7), DriverError);
  cuda().retain_result = CUDA_SUCCESS;
  EXPECT_EQ(number(7), Counters::kOfStreams);
}

TEST_F(CountersOfLaunches, AreParametersOfTheKernel) {
  const KernelText kernel{.name = "gemm",
                          .threads = 384,
                          .parameters = {{Parameter::Kind::size, 0, 0}, {Parameter::Kind::counter}},
                          .grid = {{0, 0, 128}},
                          .persistent = true,
                          .counter = true};
  const LoadedFunction function{.handle = reinterpret_cast<CUfunction>(201),
                                .residence = {.multiprocessors = 132}};
  TensorView vector{.data = reinterpret_cast<void*>(0x1000), .dtype = bf16, .rank = 1};
  vector.strides = {1};
  cuda().parameter_fields = 2;
  auto parameters = [&](std::int64_t size, std::uintptr_t of) {
    vector.sizes = {size};
    launch(kernel, function, {&vector, 1}, {}, stream(of));
    return cuda().parameters;
  };
  EXPECT_EQ(parameters(1280, 7), (std::vector<std::uint64_t>{1280, 0}));
  EXPECT_EQ(parameters(12800, 8), (std::vector<std::uint64_t>{12800, 1}));
  cuda().capturing = true;
  EXPECT_EQ(parameters(1280, 7), (std::vector<std::uint64_t>{1280, Counters::kOfStreams}));
  cuda().calls.clear();
  parameters(0, 7);
  EXPECT_EQ(cuda().calls, Calls{}) << "no launch, no counter";
}

}  // namespace
}  // namespace tessera
