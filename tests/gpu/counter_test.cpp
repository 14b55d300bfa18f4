#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <limits>

#include "perf/call_words.h"
#include "perf/inputs.h"
#include "perf/trial.h"
#include "registration/dispatch/planner.h"
#include "tests/gpu/gpu.h"

// Kernels whose blocks draw their tiles from a counter (schedule grid=counter), past the dispatch.
namespace tessera::test {
namespace {

struct Subject {
  const char* name;
  const char* call;
  Tiles tiles;
  const char* schedule;
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.call << ": " << s.schedule;
}

const Tiles kWide = {{"m", 128}, {"n", 256}, {"k", 64}}, kAlternate = {{"m", 128}, {"n", 128}, {"k", 64}};
Tiles attention_tiles(int rows, int keys, int depth) {
  return {{"i", rows}, {"j", keys}, {"d", depth}, {"e", depth}};
}

class Counter : public ::testing::TestWithParam<Subject> {
 protected:
  Counter() {
    if (!at::hasCUDA()) return;
    const CallSpec spec = call_from_text(GetParam().call);
    inputs_ = perf::make_inputs(spec, at::kCUDA);
    expected_ = perf::expected_of(spec, inputs_);
    call_ = perf::bound_call(spec, inputs_);
  }

  /// With outputs of its own, after one launch.
  perf::Trial trial() const {
    const Target target = dispatch::device_of(c10::cuda::current_device()).target;
    return perf::try_variant(*call_, {GetParam().tiles, schedule_from_text(GetParam().schedule)}, target,
                             expected_);
  }

  static std::vector<at::Tensor> copies(const perf::Trial& trial) {
    std::vector<at::Tensor> all;
    for (const at::Tensor& output : trial.outputs) all.push_back(output.clone());
    return all;
  }
  static void spoil(const perf::Trial& trial) {
    for (const at::Tensor& output : trial.outputs) output.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  static void expect_bits(const perf::Trial& trial, const std::vector<at::Tensor>& right) {
    for (std::size_t i = 0; i < right.size(); ++i) expect_same_bits(trial.outputs[i], right[i]);
  }

  std::vector<at::Tensor> inputs_;
  std::vector<perf::Expected> expected_;
  std::optional<Call> call_;
};

INSTANTIATE_TEST_SUITE_P(
    Kernels, Counter,
    ::testing::Values(Subject{"linear", "linear 4096x768x3072 --dtype bf16", kWide,
                              "stages=4 groups=2 share=together grid=counter"},
                      Subject{"linear_alternate", "linear 4096x4096x4096 --dtype bf16", kAlternate,
                              "stages=6 groups=2 share=alternate grid=counter"},
                      Subject{"linear_ragged", "linear 1000x1000x1000 --dtype f16", kAlternate,
                              "stages=4 groups=2 share=together grid=counter"},
                      Subject{"linear_of_one_tile", "linear 64x64x64 --dtype bf16", kAlternate,
                              "stages=4 groups=2 share=alternate grid=counter"},
                      Subject{"attention_causal_d128", "flash_attention 2x16x4096x128 --causal --dtype bf16",
                              attention_tiles(128, 128, 128), "stages=2 groups=2 share=turns grid=counter"},
                      Subject{"attention_causal_d64", "flash_attention 2x32x2048x64 --causal --dtype bf16",
                              attention_tiles(192, 128, 64), "stages=4 groups=3 share=together grid=counter"},
                      Subject{"attention_ragged",
                              "flash_attention 3x5x777x64 --causal --kv-length 901 --dtype f16",
                              attention_tiles(192, 128, 64),
                              "stages=4 groups=3 share=together grid=counter"}),
    [](const auto& info) { return info.param.name; });

TEST_P(Counter, IsRightTwiceInARow) {
  TESSERA_NEEDS_GPU();
  const perf::Trial one = trial();
  ASSERT_EQ(one.failure, "");
  const std::vector<at::Tensor> right = copies(one);
  spoil(one);
  one();
  expect_bits(one, right);
  for (int i = 0; i < 20; ++i) one();
  expect_bits(one, right);
}

TEST_P(Counter, IsRightOnTwoStreamsAtOnce) {
  TESSERA_NEEDS_GPU();
  const perf::Trial one = trial(), other = trial();
  ASSERT_EQ(one.failure + other.failure, "");
  const std::vector<at::Tensor> right = copies(one);
  spoil(one), spoil(other);
  c10::cuda::device_synchronize();
  const c10::cuda::CUDAStream streams[] = {c10::cuda::getStreamFromPool(),
                                           c10::cuda::getStreamFromPool(true)};
  for (int i = 0; i < 20; ++i) {
    for (const auto& [stream, kernel] : {std::pair(streams[0], &one), std::pair(streams[1], &other)}) {
      const c10::cuda::CUDAStreamGuard guard(stream);
      (*kernel)();
    }
  }
  c10::cuda::device_synchronize();
  expect_bits(one, right);
  expect_bits(other, right);
}

/// Beside launches of the stream that captured it, on another one, and beside another graph of that stream.
TEST_P(Counter, IsRightInGraphs) {
  TESSERA_NEEDS_GPU();
  const perf::Trial first = trial(), second = trial(), eager = trial();
  ASSERT_EQ(first.failure + second.failure + eager.failure, "");
  const std::vector<at::Tensor> right = copies(first);
  const c10::cuda::CUDAStream capturing = c10::cuda::getStreamFromPool(),
                              other = c10::cuda::getStreamFromPool();
  c10::cuda::device_synchronize();
  at::cuda::CUDAGraph graphs[2];
  {
    const c10::cuda::CUDAStreamGuard guard(capturing);
    for (const auto& [graph, kernel] : {std::pair(&graphs[0], &first), std::pair(&graphs[1], &second)}) {
      graph->capture_begin();
      (*kernel)();
      (*kernel)();
      graph->capture_end();
    }
  }
  for (int i = 0; i < 2; ++i) {
    spoil(first), spoil(second), spoil(eager);
    c10::cuda::device_synchronize();
    {
      const c10::cuda::CUDAStreamGuard guard(other);
      graphs[0].replay();
    }
    {
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
      graphs[1].replay();
    }
    {
      const c10::cuda::CUDAStreamGuard guard(capturing);
      eager();
    }
    c10::cuda::device_synchronize();
    expect_bits(first, right);
    expect_bits(second, right);
    expect_bits(eager, right);
  }
}

/// Graphs that are destroyed give their counters back, and launches go on.
TEST_P(Counter, OutlivesGraphs) {
  TESSERA_NEEDS_GPU();
  const perf::Trial one = trial();
  ASSERT_EQ(one.failure, "");
  const std::vector<at::Tensor> right = copies(one);
  const OtherStream stream;
  for (int i = 0; i < 3; ++i) {
    at::cuda::CUDAGraph graph;
    graph.capture_begin();
    for (int launch = 0; launch < 8; ++launch) one();
    graph.capture_end();
    spoil(one);
    graph.replay();
    c10::cuda::device_synchronize();
    expect_bits(one, right);
  }
}

}  // namespace
}  // namespace tessera::test
