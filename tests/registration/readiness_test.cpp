#include "registration/dispatch/readiness.h"

#include <dlfcn.h>

#include "tests/tile_core/runtime/cache_fixture.h"
#include "tests/tile_core/runtime/fake_cuda.h"
#include "tests/tile_core/runtime/kernels.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/launch.h"

namespace tessera::dispatch {
namespace {

// The driver of this program is the fake: loaded first, it is what "libcuda.so.1" means in this process.
test::FakeCuda& cuda() {
  static test::FakeCuda& state = []() -> test::FakeCuda& {
    void* library = dlopen(TESSERA_FAKE_CUDA, RTLD_NOW);
    return reinterpret_cast<test::FakeCudaState>(dlsym(library, "fake_cuda_state"))();
  }();
  return state;
}

class Readiness : public test::CacheTest {
 protected:
  Readiness() { cuda() = {}; }

  static dispatch::Readiness ask(Kernel& kernel, Policy policy = Policy::automatic) {
    return make_ready(kernel, "op", 0, nullptr, policy);
  }
  static std::string error_of(Kernel& kernel) {
    try {
      ask(kernel, Policy::tile);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  const Target& hopper_ = Target::named("sm_90a");
};

using Found = dispatch::Readiness;
using Lines = std::vector<std::string>;

TEST_F(Readiness, OutsideOfACaptureTheKernelIsCompiledAndLoaded) {
  for (const Policy policy : {Policy::automatic, Policy::tile}) {
    Kernel kernel(test::small_kernel(1), hopper_);
    EXPECT_EQ(ask(kernel, policy), Found::ready);
    EXPECT_TRUE(kernel.functions().loaded_on(0));
  }
}

TEST_F(Readiness, ACaptureTakesWhatWasWarmedUp) {
  Kernel kernel(test::small_kernel(2), hopper_);
  ASSERT_EQ(kernel.request(JitMode::block), Kernel::State::ready);
  load(kernel, 0);
  cuda().capturing = true;
  cuda().calls.clear();
  EXPECT_EQ(ask(kernel), Found::ready);
  EXPECT_EQ(ask(kernel, Policy::tile), Found::ready);
  EXPECT_EQ(cuda().calls, Lines{});
  EXPECT_EQ(warnings(), Lines{});
}

TEST_F(Readiness, ACaptureLoadsNothing) {
  Kernel compiled(test::small_kernel(3), hopper_), absent(test::small_kernel(4), hopper_);
  ASSERT_EQ(compiled.request(JitMode::block), Kernel::State::ready);
  cuda().capturing = true;
  for (Kernel* kernel : {&compiled, &absent}) {
    EXPECT_EQ(ask(*kernel), Found::not_now);
    EXPECT_EQ(ask(*kernel), Found::not_now);
    EXPECT_FALSE(kernel->functions().loaded_on(0));
  }
  EXPECT_EQ(
      warnings(),
      (Lines{"tessera: warning: op(): ATen runs, since kernel small_3 for sm_90a is not loaded, and while "
             "a CUDA graph is captured nothing is compiled or loaded. Call the operator once with this "
             "shape before the capture, or warm it up; the capture stays usable",
             "tessera: warning: op(): ATen runs, since kernel small_4 for sm_90a is not loaded, and while "
             "a CUDA graph is captured nothing is compiled or loaded. Call the operator once with this "
             "shape before the capture, or warm it up; the capture stays usable"}));
  EXPECT_TRUE(error_of(compiled).starts_with(
      "op(): the policy is tile, but kernel small_3 for sm_90a is not loaded, and while a CUDA graph"));
  cuda().capturing = false;
  EXPECT_EQ(ask(compiled), Found::ready);
  EXPECT_EQ(ask(absent), Found::ready);
}

TEST_F(Readiness, WithJitOffWhatIsNotInTheCacheIsRefusedUntilSomethingChanges) {
  set("TESSERA_JIT", "off");
  Kernel kernel(test::small_kernel(5), hopper_);
  EXPECT_EQ(ask(kernel), Found::refused);
  const std::uint64_t refused_at = moment_of(kernel);
  EXPECT_EQ(ask(kernel), Found::refused);
  EXPECT_EQ(moment_of(kernel), refused_at);
  EXPECT_EQ(
      warnings(),
      Lines{"tessera: warning: op(): ATen runs, since kernel small_5 for sm_90a is not in the cache, and "
            "TESSERA_JIT=off forbids compiling it. Fill the cache with `TESSERA_JIT=block tessera "
            "warmup`, or set TESSERA_JIT=block"});
  EXPECT_EQ(
      error_of(kernel),
      "op(): the policy is tile, but kernel small_5 for sm_90a is not in the cache, and TESSERA_JIT=off "
      "forbids compiling it. Fill the cache with `TESSERA_JIT=block tessera warmup`, or set "
      "TESSERA_JIT=block");
  ASSERT_EQ(kernel.request(JitMode::block), Kernel::State::ready);  // a warm-up
  EXPECT_NE(moment_of(kernel), refused_at);
  EXPECT_EQ(ask(kernel), Found::ready);
}

TEST_F(Readiness, ASettingChangesTheMoment) {
  Kernel kernel(test::small_kernel(6), hopper_);
  const std::uint64_t before = moment_of(kernel);
  set("TESSERA_JIT", "off");
  EXPECT_NE(moment_of(kernel), before);
}

TEST_F(Readiness, AFailureIsRefusedUntilItIsForgotten) {
  Kernel kernel(test::broken_kernel(4), hopper_);
  EXPECT_EQ(ask(kernel), Found::refused);
  const std::uint64_t refused_at = moment_of(kernel);
  EXPECT_EQ(ask(kernel), Found::refused);
  EXPECT_EQ(moment_of(kernel), refused_at);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("\"undeclared\" is undefined"), std::string::npos) << warnings()[0];
  EXPECT_TRUE(error_of(kernel).ends_with("TESSERA_DUMP=cuda shows its text")) << error_of(kernel);
  kernel.forget_failure();
  EXPECT_NE(moment_of(kernel), refused_at);
}

TEST_F(Readiness, WhatTheDriverRefusesIsRefused) {
  Kernel kernel(test::small_kernel(7), hopper_);
  cuda().load_result = 200;
  EXPECT_EQ(ask(kernel), Found::refused);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("kernel small_7 for sm_90a could not be loaded: "), std::string::npos)
      << warnings()[0];
}

TEST_F(Readiness, WhatIsRefusedIsLoggedOnce) {
  set("TESSERA_LOG", "dispatch");
  Kernel captured(test::small_kernel(8), hopper_), absent(test::small_kernel(9), hopper_);
  const auto twice = [&](Kernel& kernel) {
    for (int i = 0; i < 2; ++i) EXPECT_NE(ask(kernel), Found::ready);
    return warnings().back();
  };
  const auto line = [](const std::string& why) {
    return "tessera: dispatch: op(): ATen runs: kernel " + why;
  };
  cuda().capturing = true;
  EXPECT_EQ(twice(captured), line("small_8 for sm_90a is not loaded, and while a CUDA graph is captured "
                                  "nothing is compiled or loaded"));
  cuda().capturing = false;
  set("TESSERA_JIT", "off");
  EXPECT_EQ(twice(absent),
            line("small_9 for sm_90a is not in the cache, and TESSERA_JIT=off forbids compiling it"));
  EXPECT_EQ(warnings().size(), 4U);  // each a warning and a line
  set("TESSERA_JIT", "background");
  EXPECT_EQ(ask(kernel_store::get(test::slow_kernel(21), hopper_)), Found::refused);
  EXPECT_TRUE(warnings().back().starts_with(line("slow_21 for sm_90a is compiled in the background")))
      << warnings().back();
  EXPECT_EQ(warnings().size(), 5U);
}

TEST_F(Readiness, InTheBackgroundNativeRunsSilentlyAndUnderPolicyTileTheCallWaits) {
  set("TESSERA_JIT", "background");
  Kernel& kernel = kernel_store::get(test::slow_kernel(20), hopper_);
  EXPECT_EQ(ask(kernel), Found::refused);
  EXPECT_EQ(warnings(), Lines{});
  EXPECT_EQ(ask(kernel, Policy::tile), Found::ready);
}

}  // namespace
}  // namespace tessera::dispatch
