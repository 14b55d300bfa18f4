#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <functional>
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
  const OtherStream stream;
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
  const OtherStream stream;
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
  const OtherStream stream;
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
  const OtherStream stream;
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

using Tensors = std::vector<at::Tensor>;

/// How often `run` asks torch's allocator for memory.
int64_t allocations_of(const std::function<Tensors()>& run) {
  const auto allocations = [] {
    using namespace c10::CachingDeviceAllocator;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
    return stats.allocation[static_cast<std::size_t>(StatType::AGGREGATE)].allocated;
  };
  const int64_t before = allocations();
  run();
  return allocations() - before;
}

TEST(Runtime, OutputsAreTheOnlyAllocations) {
  TESSERA_NEEDS_GPU();
  Inputs inputs;
  inputs.run();
  EXPECT_EQ(allocations_of([&] { return inputs.run(); }), 5) << "four outputs and a logsumexp";
}

/// A call of ours, of the same call in ATen, and what ours may allocate.
struct Allocating {
  const char* name;
  int64_t outputs;
  std::function<Tensors()> ours;
  std::function<at::Tensor()> native;
};

/// Begins between words.
at::Tensor shifted(const at::Tensor& t) {
  return at::cat({t.flatten().slice(0, 0, 1), t.flatten()}).slice(0, 1).view(t.sizes());
}

/// Of tensors that a kernel for dense and aligned ones would have copied, padded or expanded.
std::vector<Allocating> awkward_calls(at::ScalarType dtype) {
  const at::Tensor packed = normal({2, 70, 3, 4, 40}, dtype, 1);
  const at::Tensor q = packed.select(2, 0).transpose(1, 2), k = packed.select(2, 1).transpose(1, 2),
                   v = packed.select(2, 2).transpose(1, 2);
  const at::Tensor dense_q = q.contiguous(), shifted_k = shifted(k.contiguous()),
                   shifted_v = shifted(v.contiguous());
  const at::Tensor mask = normal({2, 1, 1, 70}, at::kFloat, 2).gt(-0.5).expand({2, 1, 70, 70});
  const at::Tensor x = normal({9, 77}, dtype, 3), b = normal({33}, dtype, 4),
                   w = normal({33, 77}, dtype, 5) / 8;
  const at::Tensor sliced = at::cat({w.slice(1, 0, 3), w, w.slice(1, 0, 2)}, 1).slice(1, 3, 80);
  const at::Tensor column_x = x.t().contiguous().t(), column_w = w.t().contiguous().t();
  const at::Tensor shifted_x = shifted(x), shifted_w = shifted(w), shifted_b = shifted(b);
  const at::Tensor every_second = normal({33, 130}, dtype, 6).slice(1, 0, 130, 2),
                   columns = normal({65, 33}, dtype, 7).t();
  const at::Tensor row = normal({1, 65}, dtype, 8).expand({33, 65}),
                   column = normal({33, 1}, dtype, 9).expand({33, 65});
  const auto flash = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true);
    return Tensors{output, logsumexp};
  };
  return {
      {"attention of views of one projection", 2, [=] { return flash(q, k, v); },
       [=] { return at::scaled_dot_product_attention(q, k, v, {}, 0, true); }},
      {"attention of shifted keys", 2, [=] { return flash(dense_q, shifted_k, shifted_v); },
       [=] { return at::scaled_dot_product_attention(q, k, v, {}, 0, true); }},
      {"attention with an expanded mask", 2,
       [=] { return Tensors{tessera::scaled_dot_product_attention(q, k, v, mask)}; },
       [=] { return at::scaled_dot_product_attention(q, k, v, mask.contiguous()); }},
      {"linear of odd sizes", 1, [=] { return Tensors{tessera::linear(x, w, b)}; },
       [=] { return at::linear(x, w, b); }},
      {"linear of a sliced weight", 1, [=] { return Tensors{tessera::linear(x, sliced, b)}; },
       [=] { return at::linear(x, w, b); }},
      {"linear of columns", 1, [=] { return Tensors{tessera::linear(column_x, column_w, b)}; },
       [=] { return at::linear(x, w, b); }},
      {"linear_gelu of shifted tensors", 1,
       [=] { return Tensors{tessera::linear_gelu(shifted_x, shifted_w, shifted_b)}; },
       [=] { return at::gelu(at::linear(x, w, b)); }},
      {"softmax of every second column", 1, [=] { return Tensors{tessera::softmax(every_second, -1)}; },
       [=] { return at::softmax(every_second, -1); }},
      {"softmax of columns", 1, [=] { return Tensors{tessera::softmax(columns, -1)}; },
       [=] { return at::softmax(columns, -1); }},
      {"add of expanded operands", 1, [=] { return Tensors{tessera::add(row, column)}; },
       [=] { return at::add(row, column); }},
      {"add of strided operands", 1, [=] { return Tensors{tessera::add(every_second, columns)}; },
       [=] { return at::add(every_second, columns); }},
  };
}

TEST(Runtime, NothingIsCopiedPaddedOrExpanded) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : {at::kHalf, at::kFloat}) {
    for (const Allocating& call : awkward_calls(dtype)) {
      SCOPED_TRACE(c10::str(call.name, " ", dtype));
      const at::Tensor found = call.ours().front(), expected = call.native();  // the kernel is ready now
      EXPECT_EQ(allocations_of(call.ours), call.outputs);
      const double tolerance = dtype == at::kHalf ? 1e-2 : 1e-4;
      EXPECT_TRUE(at::allclose(found.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
    }
  }
}

}  // namespace
}  // namespace tessera::test
