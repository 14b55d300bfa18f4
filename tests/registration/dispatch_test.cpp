#include "registration/dispatch/dispatch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <filesystem>
#include <fstream>

#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/explain.h"
#include "tessera/ops.h"
#include "tessera/plans.h"
#include "tessera/version.h"
#include "tessera/warmup.h"
#include "tests/registration/support.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"

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

/// The text of the UserError that `f` throws.
std::string text(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Explain, WrongQuestions) {
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
  EXPECT_EQ(text([] {
              explain("linear", {{2, 3}, {4, 5}}, {}, "H200");
            }),
            "linear(): expected weight of shape [N, 3] for input [2, 3], but got [4, 5]");
  EXPECT_EQ(text([] {
              explain("softmax", {{4, -1}}, {}, "H200");
            }),
            "softmax: expected sizes of tensor 1 from 0 on and of less than 2^63 bytes, but got [4, -1]");
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

TEST(Planner, UsesARecordAtOnce) {
  const Call call = dispatch::call_of({"linear", {{33, 48}, {17, 48}}});
  const ops::Problem problem = call.problem();
  const autotune::Device device = autotune::device_named("H200");
  const auto plan = [&] { return dispatch::plan_of(call.op(), problem, device, Policy::automatic); };
  ASSERT_FALSE(plan().tile.has_value());
  autotune::Record record{.key = dispatch::key_of(call.op(), problem, device),
                          .library = std::string(version()),
                          .versions = dispatch::versions_here(),
                          .native_microseconds = 3,
                          .native_name = "linear"};
  for (const ops::Variant& variant : call.op().space(problem, device.target))
    record.variants.push_back({dispatch::variant_of(variant), 2, 0, ""});
  dispatch::use_record(record);
  EXPECT_TRUE(plan().tile.has_value());
  EXPECT_EQ(plan().source, autotune::Source::user_records);
  for (autotune::Measurement& variant : record.variants) variant.microseconds = 4;
  dispatch::use_record(record);  // the same key: in place of the first
  EXPECT_FALSE(plan().tile.has_value());
}

/// The plan of a call on an H200 where this is frozen for it.
class Frozen : public Files {
 protected:
  static autotune::Device h200() { return autotune::device_named("H200"); }

  static autotune::Plan plan_with(const Call& call, const autotune::Variant& frozen) {
    const ops::Problem problem = call.problem();
    autotune::FrozenPlans plans;
    plans.add(dispatch::key_of(call.op(), problem, h200()), frozen);
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "tessera_frozen_test.json";
    plans.write(file);
    load_plans(file);
    autotune::FrozenPlans{}.write(file);
    autotune::Plan plan = dispatch::plan_of(call.op(), problem, h200(), Policy::tile);
    load_plans(file);
    std::filesystem::remove(file);
    return plan;
  }
};

TEST_F(Frozen, ATileThatIsMissingIsNamed) {
  const Call call = dispatch::call_of({"linear", {{512, 128}, {256, 128}}});
  const log::Capture capture;
  const autotune::Plan plan = plan_with(call, {{{"m", 64}, {"n", 64}}, {}});
  ASSERT_TRUE(plan.tile.has_value());
  EXPECT_EQ(plan.source, autotune::Source::cost_model);
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_TRUE(
      capture.lines()[0].starts_with("tessera: warning: the frozen plan m=64 n=64 is not followed: its "
                                     "tiles are m, n, and linear's are k, m, n; the call is linear "))
      << capture.lines()[0];
}

TEST_F(Frozen, AHeadDimThatATileDoesNotCoverIsNoError) {
  const std::vector<std::vector<int64_t>> shapes(3, {1, 1, 32, 96});
  const log::Capture capture;
  const autotune::Plan plan = plan_with(dispatch::call_of({"flash_attention", shapes}),
                                        {{{"i", 32}, {"j", 32}, {"d", 64}, {"e", 96}}, {.warps = 4}});
  ASSERT_TRUE(plan.tile.has_value());
  EXPECT_EQ(plan.tile->tiles.at("d"), 96);
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_NE(capture.lines()[0].find("one tile of 64 covers dim D, whose size is 96"), std::string::npos)
      << capture.lines()[0];
}

TEST(Lowering, B138_WhateverIsThrownIsAProblemOfTheVariant) {
  const Call call = dispatch::call_of({"linear", {{16, 16}, {16, 16}}});
  const log::Capture capture;
  const dispatch::Lowered& made =
      dispatch::lowered(call.op(), call.problem().facts, {}, Target::named("sm_90a"));
  EXPECT_EQ(made.kernel, nullptr);
  EXPECT_FALSE(made.problem.empty());
  EXPECT_EQ(capture.lines().size(), 1U);
}

TEST_F(Files, MorePlansThanAreRememberedAreAWarning) {
  const std::string path = folder_ / "plans.json";
  const log::Capture capture;
  for (std::size_t i = 0; i <= dispatch::kMostUsedPlans; ++i)
    dispatch::note_used({.op = "test", .dims = {{"M", static_cast<std::int64_t>(i)}}}, {});
  save_plans(path);
  load_plans(path);
  EXPECT_EQ(capture.lines(),
            std::vector<std::string>{"tessera: warning: " + path +
                                     ": holds the first 65536 plans of this process; shapes that were called "
                                     "later are not in it"});
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

TEST(Warmup, ShapesThatTheOperatorRefusesAreItsError) {
  EXPECT_EQ(text([] {
              warmup({{"linear", {{2, 3}, {4, 5}}}}, "H200");
            }),
            "linear(): expected weight of shape [N, 3] for input [2, 3], but got [4, 5]");
  EXPECT_EQ(text([] {
              warmup({{"add", {{-2}, {1}}}}, "H200");
            }),
            "add: expected sizes of tensor 1 from 0 on and of less than 2^63 bytes, but got [-2]");
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

/// The kernels of one key: what a call on its device runs, without the keys above.
at::Tensor add_at(c10::DispatchKey key, const at::Tensor& self, const at::Tensor& other) {
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("tessera::add", "").typed<Signature>();
  return op.redispatch(c10::DispatchKeySet(key), self, other);
}

TEST(PolicyOfTheProcess, TileRefusesTensorsOnTwoDevices) {
  const at::Tensor self = at::ones({2, 3}), other = at::ones({3}, at::kMeta);
  const WithPolicy tile(Policy::tile);
  const std::string text =
      "add(): the policy is tile, but no tile kernel supports tensors on cpu and meta. Policy auto runs ATen "
      "here";
  EXPECT_EQ(testing::error_of([&] { add_at(c10::DispatchKey::CPU, self, other); }), text);
  const AddArguments a{self, other};
  EXPECT_EQ(testing::error_of([&] { dispatch::runs_native(a, dispatch::training_memo_of(a)); }), text);
}

// Where there is nothing to compute, no kernel is asked for: with gradients as without.
TEST(PolicyOfTheProcess, TileTakesEmptyCallsWithGradientsAsWithout) {
  const WithPolicy tile(Policy::tile);
  const auto options = at::TensorOptions(at::kDouble);
  for (const bool gradients : {false, true}) {
    const at::Tensor x = at::empty({0, 4}, options).requires_grad_(gradients),
                     w = at::ones({3, 4}, options).requires_grad_(gradients),
                     q = at::empty({0, 2, 3, 320}, options).requires_grad_(gradients);
    const at::Tensor outputs[] = {tessera::linear(x, w), tessera::linear_gelu(x, w),
                                  std::get<0>(tessera::flash_attention(q, q, q)),
                                  tessera::scaled_dot_product_attention(q, q, q, {}, 0.5)};
    for (const at::Tensor& output : outputs) {
      EXPECT_EQ(output.numel(), 0);
      EXPECT_EQ(output.scalar_type(), at::kDouble);
      ASSERT_EQ(output.requires_grad(), gradients);
      if (gradients) output.sum().backward();
    }
    if (!gradients) continue;
    EXPECT_EQ(x.grad().sizes(), x.sizes());
    EXPECT_TRUE(w.grad().equal(at::zeros({3, 4}, options)));
    EXPECT_EQ(q.grad().sizes(), q.sizes());
  }
}

TEST(PolicyOfTheProcess, IsOneOfThree) {
  EXPECT_EQ(text([] { set_policy(static_cast<Policy>(7)); }),
            "set_policy: expected automatic, tile or native, but got 7");
  EXPECT_EQ(text([] { set_policy(static_cast<Policy>(-1)); }),
            "set_policy: expected automatic, tile or native, but got -1");
}

TEST(PolicyOfTheProcess, OverridesTheEnvironment) {
  EXPECT_EQ(policy(), env::policy());
  {
    const WithPolicy native(Policy::native);
    EXPECT_EQ(policy(), Policy::native);
    EXPECT_TRUE(dispatch::always_native("add", at::kCUDA));
  }
  const WithPolicy automatic(Policy::automatic);
  EXPECT_TRUE(dispatch::always_native("add", at::kCPU));
  EXPECT_FALSE(dispatch::always_native("add", c10::Device(at::kCUDA, 0)));
}

}  // namespace
}  // namespace tessera
