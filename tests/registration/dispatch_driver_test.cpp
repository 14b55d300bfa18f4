#include <ATen/ATen.h>
#include <dlfcn.h>
#include <thread>

#include "registration/calls/calls.h"
#include "registration/dispatch/dispatch.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/plans.h"
#include "tessera/policy.h"
#include "tests/tile_core/runtime/cache_fixture.h"

// What is decided, said and remembered of calls on a GPU, up to the kernel: the driver is the fake.
namespace tessera::dispatch {
namespace {

using Lines = std::vector<std::string>;

const c10::Device kGpu(at::kCUDA, 0);

class DispatchOnAGpu : public test::CacheTest {
 protected:
  DispatchOnAGpu() {
    // Loaded first, it is what "libcuda.so.1" means in this process.
    static void* const kDriver = dlopen(TESSERA_FAKE_CUDA, RTLD_NOW);
    EXPECT_NE(kDriver, nullptr);
    set_policy(Policy::automatic);
    forget_decisions();
    set("TESSERA_LOG", "dispatch");
  }
  ~DispatchOnAGpu() override { set_policy({}); }

  /// What is logged of a call that runs native, asked for twice.
  Lines said_of(const Call& call) {
    const std::size_t before = warnings().size();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(choose(call, kGpu).native());
    const Lines all = warnings();
    return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
  }
};

TEST_F(DispatchOnAGpu, WhatNoKernelTakesIsSaidOnce) {
  const auto line = [](const std::string& op, const std::string& why) {
    return Lines{"tessera: dispatch: " + op + "(): ATen runs: no tile kernel supports " + why};
  };
  const std::vector<std::vector<int64_t>> wide(3, {1, 1, 4, 320});
  EXPECT_EQ(said_of(call_of({"flash_attention", wide})), line("flash_attention", "head dim 320, above 256"));
  EXPECT_EQ(said_of(call_of({"softmax", {{4, 8}}, {.dtype = at::kDouble}})), line("softmax", "dtype Double"));
  const at::Tensor q = at::empty({1, 1, 4, 8});
  EXPECT_EQ(said_of(call_of(AttentionArguments{"scaled_dot_product_attention", q, q, q, kNoTensor, 0.5})),
            line("scaled_dot_product_attention", "dropout_p = 0.5"));
  const at::Tensor x = at::empty({3, 2, 8}).transpose(0, 1), w = at::empty({4, 8});
  EXPECT_EQ(
      said_of(call_of(LinearArguments{"linear", x, w, kNoTensor})),
      line("linear", "input of sizes [2, 3, 8] and strides [8, 16, 1], whose leading dims are not one dim"));
}

TEST_F(DispatchOnAGpu, NothingIsSaidWhereNobodyAsks) {
  set("TESSERA_LOG", "");
  EXPECT_EQ(said_of(call_of({"softmax", {{4, 8}}, {.dtype = at::kDouble}})), Lines{});
  EXPECT_EQ(said_of(call_of({"softmax", {{4, 8}}})), Lines{});
  EXPECT_TRUE(always_native("softmax", at::kCPU));
  EXPECT_EQ(warnings(), Lines{});
}

TEST_F(DispatchOnAGpu, WhereThePolicyDecidesItIsSaidOncePerOperator) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(always_native("add", at::kCPU));
    EXPECT_FALSE(always_native("add", kGpu));
  }
  set_policy(Policy::native);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(always_native("add", kGpu));
  EXPECT_EQ(warnings(),
            (Lines{"tessera: dispatch: add(): ATen runs: the CPU runs ATen unless the policy is tile",
                   "tessera: dispatch: add(): ATen runs: the policy is native"}));
}

TEST_F(DispatchOnAGpu, ADeviceThatNothingIsCompiledForIsSaid) {
  set("TESSERA_ARCH", "sm_75");
  const Lines said = said_of(call_of({"softmax", {{4, 8}}}));
  ASSERT_EQ(said.size(), 2U);
  const std::string why = "TESSERA_ARCH=sm_75 is not legal: ";
  EXPECT_TRUE(said[0].starts_with("tessera: warning: ATen runs on device 0: " + why)) << said[0];
  EXPECT_TRUE(said[1].starts_with("tessera: dispatch: softmax(): ATen runs: " + why)) << said[1];
}

TEST_F(DispatchOnAGpu, UsedPlansAreSavedAndLoadedOnesAreFollowedAtOnce) {
  const Call used = call_of({"softmax", {{4, 8}}}), unused = call_of({"softmax", {{4, 16}}});
  const auto key = [](const Call& call) { return key_of(call.op(), call.problem(), device_of(0)); };
  const auto plan_line = [&](const std::string& source) {
    return "tessera: dispatch: " + autotune::to_text(key(used)) + "\n  plan: native, from " + source;
  };
  const Lines first = said_of(used);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].starts_with(plan_line("the cost model"))) << first[0];

  const std::string path = folder_ / "plans.json";
  save_plans(path);
  const auto saved = autotune::FrozenPlans::from_file(path);
  ASSERT_NE(saved.find(key(used)), nullptr);
  EXPECT_FALSE(saved.find(key(used))->has_value());  // native
  EXPECT_EQ(saved.find(key(unused)), nullptr);

  EXPECT_EQ(said_of(used), Lines{});  // decided
  load_plans(path);
  const Lines again = said_of(used);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(again[0].starts_with(plan_line("the frozen plans"))) << again[0];
}

TEST_F(DispatchOnAGpu, AThreadRemembersWhatAtenRunsUntilDecisionsAreForgotten) {
  const at::Tensor x = at::empty({4, 24}), y = at::empty({4, 24}), other = at::empty({24, 4});
  const SoftmaxArguments arguments{x, 1};
  const Memo before(arguments);
  EXPECT_FALSE(before.says_native());
  EXPECT_TRUE(choose(call_of(arguments), kGpu, &before).native());
  const auto says_native = [](const at::Tensor& t) { return Memo(SoftmaxArguments{t, 1}).says_native(); };
  EXPECT_TRUE(says_native(x));
  EXPECT_TRUE(says_native(y));
  EXPECT_FALSE(says_native(other));
  std::thread([&] { EXPECT_FALSE(says_native(x)); }).join();

  for (const Policy policy : {Policy::tile, Policy::native}) {
    set_policy(policy);
    EXPECT_FALSE(says_native(x)) << "a memory of policy auto";
  }
  set_policy(Policy::automatic);
  EXPECT_TRUE(says_native(x));

  const Memo overtaken(arguments);
  forget_decisions();
  EXPECT_FALSE(says_native(x));
  EXPECT_TRUE(choose(call_of(arguments), kGpu, &overtaken).native());
  EXPECT_FALSE(says_native(x)) << "of a decision that was forgotten while it was made";
}

TEST_F(DispatchOnAGpu, WhatNoKernelTakesIsNotRemembered) {
  const at::Tensor x = at::empty({4, 24}, at::kDouble);
  const SoftmaxArguments arguments{x, 1};
  const Memo memo(arguments);
  EXPECT_TRUE(choose(call_of(arguments), kGpu, &memo).native());
  EXPECT_FALSE(Memo(arguments).says_native());
}

TEST_F(DispatchOnAGpu, TheTilesOfAUsedPlanAreSaved) {
  const Call call = call_of({"softmax", {{4, 32}}});
  const ops::Problem problem = call.problem();
  const autotune::Key key = key_of(call.op(), problem, device_of(0));
  const autotune::Plan plan = plan_of(call.op(), problem, device_of(0), Policy::tile);
  ASSERT_TRUE(plan.tile.has_value());
  note_used(key, plan);
  const std::string path = folder_ / "plans.json";
  save_plans(path);
  const auto saved = autotune::FrozenPlans::from_file(path);
  ASSERT_NE(saved.find(key), nullptr);
  EXPECT_EQ(*saved.find(key), plan.tile);
}

}  // namespace
}  // namespace tessera::dispatch
