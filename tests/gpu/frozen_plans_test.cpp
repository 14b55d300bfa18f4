#include "tile_core/autotune/frozen_plans.h"

#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "perf/call_words.h"
#include "perf/inputs.h"
#include "perf/problem.h"
#include "perf/trial.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tessera/explain.h"
#include "tessera/plans.h"
#include "tessera/policy.h"
#include "tests/gpu/gpu.h"
#include "tests/support/temporary_folder.h"

// Plans of this process, written to a file and read again.
namespace tessera::test {
namespace {

using autotune::FrozenPlans;

/// Names of the generated kernels that `run` launches, as torch's profiler sees them on the device.
std::vector<std::string> kernels_of(const std::function<void()>& run) {
  using torch::profiler::impl::ActivityType;
  namespace profiler = torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities = {ActivityType::CPU, ActivityType::CUDA};
  run();  // compiles and loads
  c10::cuda::device_synchronize();
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  run();
  c10::cuda::device_synchronize();
  const auto seen = profiler::disableProfiler();
  std::vector<std::string> names;
  bool sees_the_device = false;
  for (const profiler::KinetoEvent& event : seen->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    sees_the_device = true;
    if (event.name().starts_with("tessera_")) names.push_back(event.name());
  }
  EXPECT_TRUE(sees_the_device) << "torch's profiler saw nothing of the device";
  return names;
}

/// A call of an operator that runs under policy auto.
struct Subject {
  explicit Subject(const char* words)
      : spec(call_from_text(words)),
        inputs(perf::make_inputs(spec, at::kCUDA)),
        device(dispatch::device_of(c10::cuda::current_device())),
        call(perf::call_of(spec)),
        key(dispatch::key_of(call.op(), call.problem(), device)) {}

  std::vector<at::Tensor> run() const { return perf::run_tessera(spec, inputs); }

  Explanation plan() const {
    const CallShape shape = perf::shape_of(spec);
    return explain(shape.op, shape.shapes, shape.options);
  }

  std::string kernel_of(const autotune::Variant& variant) const {
    const dispatch::Lowered& made =
        dispatch::lowered(call.op(), call.problem().facts, variant, device.target);
    return made.kernel == nullptr ? "" : made.kernel->text().name;
  }

  /// Of the operator's list, with a kernel of another name than what runs now.
  std::optional<autotune::Variant> another_variant() const {
    const autotune::Plan now = dispatch::plan_of(call.op(), call.problem(), device, Policy::automatic);
    const std::string runs = now.tile ? kernel_of(*now.tile) : "";
    for (const ops::Variant& listed : call.op().space(call.problem(), device.target)) {
      const autotune::Variant variant = dispatch::variant_of(listed);
      const std::string name = kernel_of(variant);
      if (!name.empty() && name != runs) return variant;
    }
    return std::nullopt;
  }

  CallSpec spec;
  std::vector<at::Tensor> inputs;
  autotune::Device device;
  Call call;
  autotune::Key key;
};

/// Two operators, of which an H200's shipped records say that a generated kernel runs.
std::vector<Subject> subjects() {
  return {Subject("linear_gelu 333x520x776 --dtype bf16"),
          Subject("flash_attention 4x8x300x72 --dtype bf16")};
}

class Frozen : public ::testing::Test {
 protected:
  /// As a process that has called nothing.
  Frozen() {
    set_policy(Policy::automatic);
    load_no_plans();
  }
  ~Frozen() override {
    load_no_plans();
    set_policy({});
  }

  void load_no_plans() const {
    FrozenPlans{}.write(file());
    load_plans(file());
  }
  std::string file() const { return (folder_ / "plans.json").string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(Frozen, PlansThatAreLoadedGiveTheSameBits) {
  TESSERA_NEEDS_GPU();
  const std::vector<Subject> calls = subjects();
  std::vector<std::vector<at::Tensor>> before;
  std::vector<std::string> plans;
  for (const Subject& call : calls) {
    before.push_back(call.run());
    plans.push_back(call.plan().plan);
    EXPECT_NE(call.plan().source, "the frozen plans");
  }
  save_plans(file());
  const FrozenPlans saved = FrozenPlans::from_file(file());
  load_plans(file());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(to_text(calls[i].spec));
    const std::optional<autotune::Variant>* frozen = saved.find(calls[i].key);
    ASSERT_NE(frozen, nullptr) << "the file lacks the call";
    EXPECT_EQ(*frozen ? autotune::to_text(**frozen) : "native", plans[i]);
    EXPECT_EQ(calls[i].plan().plan, plans[i]);
    EXPECT_EQ(calls[i].plan().source, "the frozen plans");
    const std::vector<at::Tensor> after = calls[i].run();
    ASSERT_EQ(after.size(), before[i].size());
    for (std::size_t output = 0; output < after.size(); ++output)
      expect_same_bits(after[output], before[i][output]);
  }
}

TEST_F(Frozen, APlanThatWasEditedIsWhatRuns) {
  TESSERA_NEEDS_GPU();
  for (const Subject& call : subjects()) {
    SCOPED_TRACE(to_text(call.spec));
    call.run();
    save_plans(file());
    const std::optional<autotune::Variant> other = call.another_variant();
    ASSERT_TRUE(other.has_value()) << "the operator offers one kernel only";
    FrozenPlans plans = FrozenPlans::from_file(file());
    ASSERT_NE(plans.find(call.key), nullptr);
    plans.add(call.key, *other);
    plans.write(file());
    load_plans(file());
    EXPECT_EQ(call.plan().plan, autotune::to_text(*other));
    EXPECT_EQ(kernels_of([&] { call.run(); }), std::vector<std::string>{call.kernel_of(*other)});
    const perf::Trial alone =
        perf::try_variant(perf::bound_call(call.spec, call.inputs), *other, call.device.target,
                          perf::expected_of(call.spec, call.inputs));
    EXPECT_EQ(alone.failure, "");
    const std::vector<at::Tensor> results = call.run();
    for (std::size_t i = 0; i < results.size(); ++i)
      expect_same_bits(results[i], alone.outputs.at(i).view(results[i].sizes()));
  }
}

TEST_F(Frozen, APlanOfNativeIsWhatRuns) {
  TESSERA_NEEDS_GPU();
  for (const Subject& call : subjects()) {
    SCOPED_TRACE(to_text(call.spec));
    FrozenPlans plans;
    plans.add(call.key, std::nullopt);
    plans.write(file());
    load_plans(file());
    EXPECT_EQ(call.plan().plan, "native");
    EXPECT_EQ(kernels_of([&] { call.run(); }), std::vector<std::string>{});
  }
}

TEST_F(Frozen, AThreadThatRemembersAtenFollowsAPlanThatIsLoaded) {
  TESSERA_NEEDS_GPU();
  for (const char* words :
       {"softmax 5x77", "linear 3x5x7", "add 6x79", "flash_attention 1x2x9x24 --dtype f16"}) {
    for (const bool grad : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, {}", words, grad ? "with a gradient" : "without a gradient"));
      Subject call(words);
      for (at::Tensor& t : call.inputs) t.set_requires_grad(grad);
      const auto run = [&] { call.run(); };
      EXPECT_EQ(kernels_of(run), std::vector<std::string>{});
      FrozenPlans plans;
      const std::optional<autotune::Variant> variant = call.another_variant();
      ASSERT_TRUE(variant.has_value());
      plans.add(call.key, *variant);
      plans.write(file());
      load_plans(file());
      EXPECT_EQ(kernels_of(run), std::vector<std::string>{call.kernel_of(*variant)});
      load_no_plans();
      EXPECT_EQ(kernels_of(run), std::vector<std::string>{});
    }
  }
}

}  // namespace
}  // namespace tessera::test
