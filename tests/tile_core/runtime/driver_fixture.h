#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/tile_core/runtime/fake_cuda.h"
#include "tile_core/runtime/driver.h"

namespace tessera::test {

using Calls = std::vector<std::string>;

/// The driver of this program is the fake: loaded first, it is what "libcuda.so.1" means in this process.
inline FakeCuda& cuda() {
  static FakeCuda& state = []() -> FakeCuda& {
    void* library = dlopen(TESSERA_FAKE_CUDA, RTLD_NOW);
    return reinterpret_cast<FakeCudaState>(dlsym(library, "fake_cuda_state"))();
  }();
  return state;
}

/// Every test meets a fresh driver that has been opened.
class DriverTest : public ::testing::Test {
 protected:
  DriverTest() {
    cuda() = {};
    EXPECT_TRUE(driver::available()) << driver::problem();
    cuda().calls.clear();
  }
};

}  // namespace tessera::test
