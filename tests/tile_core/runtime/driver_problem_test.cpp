#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/tile_core/runtime/fake_cuda.h"
#include "tile_core/runtime/driver.h"

namespace tessera {
namespace {

// Each runs in a process of its own: a driver is opened once.
[[noreturn]] void report_with(int version, int init_result) {
  void* library = dlopen(TESSERA_FAKE_CUDA, RTLD_NOW);
  test::FakeCuda& cuda = reinterpret_cast<test::FakeCudaState>(dlsym(library, "fake_cuda_state"))();
  cuda.version = version;
  cuda.init_result = init_result;
  std::fprintf(stderr, "%s", driver::problem().c_str());
  std::_Exit(driver::available() ? 1 : 0);
}

class DriverProblem : public ::testing::Test {
 protected:
  DriverProblem() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DriverProblem, TooOld) {
  EXPECT_EXIT(report_with(11080, 0), testing::ExitedWithCode(0),
              "the NVIDIA driver supports CUDA 11.8 \\(.*\\), and Tessera needs 12.0 or newer: update the "
              "driver, or use "
              "TESSERA_POLICY=native");
}

TEST_F(DriverProblem, NoDevice) {
  EXPECT_EXIT(report_with(13000, CUDA_ERROR_NO_DEVICE), testing::ExitedWithCode(0),
              "the NVIDIA driver \\(.*\\) does not start: cuInit gives CUDA_ERROR_NO_DEVICE. Generated "
              "kernels need an "
              "NVIDIA driver and GPU; without them operators run on the CPU");
}

// B122: no driver at all.
TEST_F(DriverProblem, B122Missing) {
  void* present = dlopen("libcuda.so.1", RTLD_NOW);
  if (present != nullptr) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EXIT(
      {
        std::fprintf(stderr, "%s", driver::problem().c_str());
        std::_Exit(driver::available() ? 1 : 0);
      },
      testing::ExitedWithCode(0),
      "the NVIDIA driver was not found; tried:\n  libcuda.so.1: .*\n  libcuda.so: .*\nGenerated kernels need "
      "an NVIDIA "
      "driver and GPU; without them operators run on the CPU");
}

}  // namespace
}  // namespace tessera
