#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <chrono>
#include <thread>

#include "tessera/ops.h"
#include "tessera/warmup.h"
#include "tests/gpu/gpu.h"

namespace tessera::test {
namespace {

struct Inputs {
  at::Tensor x = normal({64, 64}, at::kHalf, 1), w = normal({64, 64}, at::kHalf, 2),
             b = normal({64}, at::kHalf, 3), q = normal({1, 2, 64, 64}, at::kHalf, 4);

  std::vector<at::Tensor> run() const {
    return {tessera::add(x, w), tessera::linear_gelu(x, w, b), tessera::softmax(x, -1),
            std::get<0>(tessera::flash_attention(q, q, q, true))};
  }
  void refill() {
    x.copy_(normal({64, 64}, at::kHalf, 11));
    q.copy_(normal({1, 2, 64, 64}, at::kHalf, 12));
  }
};

TEST(Runtime, B93RunsOnTheCurrentStream) {
  TESSERA_NEEDS_GPU();
  Inputs inputs;
  inputs.run();
  c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::Tensor busy = at::ones({4096, 4096}, at::device(at::kCUDA).dtype(at::kFloat));
  for (int i = 0; i < 50; ++i) {
    at::mm(busy, busy);
    inputs.x.fill_(i % 5);
    at::Tensor sum = tessera::add(inputs.x, inputs.x).sum(at::kFloat);
    EXPECT_EQ(sum.item<float>(), static_cast<float>(2 * (i % 5) * 4096));
  }
}

TEST(Runtime, B100GraphsReplayWithNewData) {
  TESSERA_NEEDS_GPU();
  Inputs inputs;
  inputs.run();
  c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  std::vector<at::Tensor> captured = inputs.run();
  graph.capture_end();
  for (int i = 0; i < 3; ++i) {
    inputs.refill();
    graph.replay();
    std::vector<at::Tensor> eager = inputs.run();
    for (std::size_t t = 0; t < eager.size(); ++t) expect_same_bits(captured[t], eager[t]);
  }
}

TEST(Runtime, B100WhatWasWarmedUpIsCaptured) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = normal({35, 79}, at::kFloat, 1);  // a shape that this process has not called
  const Warmup warm = tessera::warmup({{"softmax", {{35, 79}}, {.dtype = at::kFloat}}});
  ASSERT_EQ(warm.kernels, 1);
  c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  at::Tensor captured = tessera::softmax(x, -1);
  graph.capture_end();
  graph.replay();
  expect_same_bits(captured, tessera::softmax(x, -1));
}

TEST(Runtime, ANumberOnTheCpuIsNoTileKernels) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = normal({4, 8}, at::kFloat, 1), number = at::ones({});
  for (const bool grad : {false, true}) {
    EXPECT_THROW(tessera::add(x.detach().set_requires_grad(grad), number), c10::Error);
    EXPECT_THROW(tessera::add(number, x.detach().set_requires_grad(grad)), c10::Error);
  }
}

TEST(Runtime, B101ColdCallInACaptureLeavesItUsable) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = normal({33, 77}, at::kFloat, 1), other = normal({8, 8}, at::kFloat, 2);
  c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  EXPECT_THROW(tessera::softmax(x, 0), c10::Error);  // a kernel that this process has not used
  at::Tensor sum = other + other;
  graph.capture_end();
  graph.replay();
  expect_same_bits(sum, other + other);
}

TEST(Runtime, B95ConcurrentFirstCalls) {
  TESSERA_NEEDS_GPU();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 24; ++t) {
    threads.emplace_back([t, &wrong] {
      int64_t D = 8 * (1 + t % 8);
      at::Tensor q = normal({1, 2, 17, D}, t % 2 == 0 ? at::kHalf : at::kFloat, 1);
      at::Tensor o = std::get<0>(tessera::flash_attention(q, q, q));
      at::Tensor want =
          at::scaled_dot_product_attention(q.to(at::kDouble), q.to(at::kDouble), q.to(at::kDouble));
      if (!at::allclose(o.to(at::kDouble), want, 1e-2, 1e-2)) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Runtime, OutputsAreTheOnlyAllocations) {
  TESSERA_NEEDS_GPU();
  Inputs inputs;
  inputs.run();
  auto allocations = [] {
    using namespace c10::CachingDeviceAllocator;
    auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
    return stats.allocation[static_cast<size_t>(StatType::AGGREGATE)].allocated;
  };
  int64_t before = allocations();
  auto results = inputs.run();
  EXPECT_EQ(allocations() - before, 5) << "four outputs and a logsumexp";
}

}  // namespace
}  // namespace tessera::test
