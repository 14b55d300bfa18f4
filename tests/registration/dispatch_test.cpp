#include "registration/dispatch/dispatch.h"

#include <filesystem>
#include <fstream>

#include "tessera/explain.h"
#include "tessera/ops.h"
#include "tessera/plans.h"
#include "tessera/version.h"
#include "tessera/warmup.h"
#include "tests/registration/support.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

using testing::WithPolicy;

const std::vector<std::vector<int64_t>> kLinear = {{512, 128}, {256, 128}, {256}};

TEST(Explain, WithoutARecordAutoIsNative) {
  const WithPolicy automatic(Policy::automatic);
  const Explanation e = explain("linear_gelu", kLinear, {}, "H200");
  EXPECT_TRUE(e.native);
  EXPECT_EQ(e.plan, "native");
  EXPECT_EQ(e.source, "the cost model");
  EXPECT_EQ(e.reason, "no record shows a generated kernel faster here");
  EXPECT_EQ(e.call,
            "linear K=128 M=512 N=256 (bf16 d1 16B, bf16 d1 16B, bf16 d0 16B, bf16 d1 16B) bias=1 gelu=1 "
            "preactivation=0 on "
            "NVIDIA H200 (sm_90a)");
  ASSERT_GE(e.candidates.size(), 2U);
  EXPECT_EQ(e.candidates[0].name, "native");
  EXPECT_EQ(e.candidates[0].verdict, "chosen");
  EXPECT_EQ(e.candidates[1].verdict, "no record shows it faster than native");
}

TEST(Explain, PolicyTileTakesTheFirstLegalVariant) {
  const WithPolicy tile(Policy::tile);
  for (const char* device : {"H200", "sm_80", "B200", "sm_120a"}) {
    const Explanation e = explain("softmax", {{64, 1000}}, {.dtype = at::kFloat}, device);
    EXPECT_FALSE(e.native);
    EXPECT_EQ(e.candidates[0].name, e.plan);
    EXPECT_EQ(e.reason, "the policy is tile, and nothing is measured here");
  }
}

TEST(Explain, PolicyNative) {
  const WithPolicy native(Policy::native);
  const Explanation e = explain("add", {{4, 8}, {8}}, {}, "A100");
  EXPECT_EQ(e.source, "the policy");
  EXPECT_EQ(e.text(),
            "add D0=4 D1=8 (bf16 d1 16B, bf16 d1 16B, bf16 d1 16B) rank=2 on NVIDIA A100-SXM4-80GB (sm_80)\n"
            "  plan: native, from the policy: the policy is native\n"
            "  native                                         not measured  chosen\n");
}

TEST(Explain, WhatNoKernelTakes) {
  const std::vector<std::vector<int64_t>> wide(3, {1, 1, 4, 320});
  {
    const WithPolicy automatic(Policy::automatic);
    const Explanation e = explain("flash_attention", wide, {}, "H200");
    EXPECT_TRUE(e.native);
    EXPECT_EQ(e.reason, "no tile kernel supports head dim 320, above 256");
  }
  const WithPolicy tile(Policy::tile);
  EXPECT_EQ(explain("flash_attention", wide, {}, "H200").plan, "none: the call throws");
}

TEST(Explain, WrongQuestions) {
  const auto text = [](auto f) -> std::string {
    try {
      f();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(text([] { explain("gemm", kLinear, {}, "H200"); }),
            "no operator is called 'gemm'; there are add, linear, linear_gelu, softmax, "
            "scaled_dot_product_attention and "
            "flash_attention");
  EXPECT_EQ(text([] {
              explain("linear", {{2, 3}}, {}, "H200");
            }),
            "linear: expected the sizes of 2 to 3 tensors, but got 1");
  EXPECT_TRUE(text([] {
                explain("linear", kLinear, {}, "TPU");
              }).starts_with("no device is called 'TPU'; known are"));
  EXPECT_EQ(testing::error_of([] {
              explain("linear", {{2, 3}, {4, 5}}, {}, "H200");
            }),
            "linear(): expected weight of shape [N, 3] for input [2, 3], but got [4, 5]");
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tessera_dispatch_test_" + std::to_string(::getpid()));
};

TEST_F(Files, PlansThatAreNotWholeAreAnError) {
  const std::string path = folder_ / "plans.json";
  std::ofstream(path) << R"({"format": 1, "library": "0.0.0", "plans": []})";
  try {
    load_plans(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), path + ".library: expected this library's version " +
                                             std::string(version()) + ", but got \"0.0.0\"");
  }
}

TEST_F(Files, PlansAreSavedAndLoaded) {
  const std::string path = folder_ / "plans.json";
  save_plans(path);  // of no call on a GPU
  load_plans(path);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Warmup, WithoutAGpuAndADeviceThereIsNothingToDo) {
  const WithPolicy automatic(Policy::automatic);
  std::vector<std::string> seen;
  const Warmup result = warmup({{"linear", kLinear}, {"softmax", {{4, 8}}}}, "H200",
                               [&](auto, auto, const std::string& call) { seen.push_back(call); });
  EXPECT_EQ(result.native, 2);  // no record, no kernel
  EXPECT_EQ(result.kernels, 0);
  EXPECT_EQ(seen, (std::vector<std::string>{"linear 512x128 256x128 256 BFloat16", "softmax 4x8 BFloat16"}));
}

TEST(Warmup, CompilesForADeviceThatIsNotHere) {
  const WithPolicy tile(Policy::tile);
  const Warmup result = warmup({{"linear_gelu", {{16, 16}, {16, 16}}, {.training = true}},
                                {"flash_attention", std::vector<std::vector<int64_t>>(3, {1, 1, 4, 320})}},
                               "sm_80");
  EXPECT_EQ(result.kernels, 1);
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0].call, "flash_attention 1x1x4x320 1x1x4x320 1x1x4x320 BFloat16");
  EXPECT_EQ(result.failures[0].problem, "no tile kernel supports head dim 320, above 256");
}

TEST(PolicyOfTheProcess, OverridesTheEnvironment) {
  EXPECT_EQ(policy(), env::policy());
  {
    const WithPolicy native(Policy::native);
    EXPECT_EQ(policy(), Policy::native);
    EXPECT_TRUE(dispatch::always_native(at::kCUDA));
  }
  const WithPolicy automatic(Policy::automatic);
  EXPECT_TRUE(dispatch::always_native(at::kCPU));
  EXPECT_FALSE(dispatch::always_native(c10::Device(at::kCUDA, 0)));
}

}  // namespace
}  // namespace tessera
