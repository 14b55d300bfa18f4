#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/autograd.h>

#include "tessera/ops.h"
#include "tests/gpu/gpu.h"

namespace tessera::test {
namespace {

#define TESSERA_NEEDS_TWO_GPUS()     \
  if (c10::cuda::device_count() < 2) \
  GTEST_SKIP() << "this machine has " << int(c10::cuda::device_count()) << " CUDA devices, the test needs two"

/// Every operator, forward and backward, on leaves of one device.
class Job {
 public:
  explicit Job(at::Device device) {
    for (std::uint64_t seed : {1, 2})
      matrices_.push_back(normal({64, 64}, at::kHalf, seed).to(device).requires_grad_());
    bias_ = normal({64}, at::kHalf, 3).to(device).requires_grad_();
    query_ = normal({1, 2, 64, 64}, at::kHalf, 4).to(device).requires_grad_();
  }

  /// Results, then gradients; no graph that would tie a later call to this one's stream.
  std::vector<at::Tensor> run() const {
    const at::Tensor &x = matrices_[0], &w = matrices_[1], &q = query_;
    std::vector<at::Tensor> all = {tessera::add(x, w), tessera::linear(x, w, bias_),
                                   tessera::linear_gelu(x, w, bias_), tessera::softmax(x, -1),
                                   std::get<0>(tessera::flash_attention(q, q, q, true))};
    at::Tensor sum = all[0].sum();
    for (std::size_t i = 1; i < all.size(); ++i) sum = sum + (all[i] * all[i]).sum();
    for (const at::Tensor& grad : torch::autograd::grad({sum}, {x, w, bias_, q})) all.push_back(grad);
    for (at::Tensor& t : all) t = t.detach();
    return all;
  }

 private:
  std::vector<at::Tensor> matrices_;
  at::Tensor bias_, query_;
};

void expect_same_results(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same_bits(a[i].cpu(), b[i].cpu());
}

std::int64_t allocations(c10::DeviceIndex device) {
  using namespace c10::CachingDeviceAllocator;
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  return stats.allocation[static_cast<std::size_t>(StatType::AGGREGATE)].allocated;
}

TEST(TwoDevices, B92TheDeviceOfTheTensorsIsUsed) {
  TESSERA_NEEDS_TWO_GPUS();
  const Job first({at::kCUDA, 0}), second({at::kCUDA, 1});
  const std::vector<at::Tensor> expected = first.run();
  second.run();
  for (int i = 0; i < 10; ++i) {
    const std::int64_t before = allocations(0);
    const std::vector<at::Tensor> results = second.run();
    EXPECT_EQ(allocations(0), before) << "of a call on the other device";
    for (const at::Tensor& t : results) EXPECT_EQ(t.device().index(), 1);
    expect_same_results(results, expected);
    EXPECT_EQ(c10::cuda::current_device(), 0);
    expect_same_results(first.run(), expected);
  }
}

TEST(TwoDevices, B77TensorsOfTwoDevicesAreAnError) {
  TESSERA_NEEDS_TWO_GPUS();
  const at::Tensor q = normal({1, 2, 8, 16}, at::kHalf, 1), there = q.to(at::Device(at::kCUDA, 1));
  try {
    tessera::scaled_dot_product_attention(q, there, q);
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_EQ(
        error.what_without_backtrace(),
        std::string("scaled_dot_product_attention(): expected key on query's device cuda:0, but got cuda:1"));
  }
  EXPECT_TRUE(at::isfinite(tessera::scaled_dot_product_attention(q, q, q)).all().item<bool>());
}

TEST(TwoDevices, B98EachDeviceHasItsOwnKernels) {
  TESSERA_NEEDS_TWO_GPUS();
  for (const c10::DeviceIndex index : {0, 1}) {
    const c10::cuda::CUDAGuard device(index);
    const at::Tensor x = normal({37, 53}, at::kFloat, 1).to(at::Device(at::kCUDA, index));
    expect_same_bits(tessera::softmax(x, -1).cpu(),
                     tessera::softmax(x.to(at::Device(at::kCUDA, 1 - index)), -1).cpu());
  }
}

TEST(TwoDevices, B103CaptureOnTheSecond) {
  TESSERA_NEEDS_TWO_GPUS();
  const c10::cuda::CUDAGuard device(1);
  const Job job({at::kCUDA, 1});
  const std::vector<at::Tensor> expected = job.run();
  const std::int64_t before = allocations(0);
  const OtherStream stream(1);
  job.run();
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const std::vector<at::Tensor> captured = job.run();
  graph.capture_end();
  for (int i = 0; i < 3; ++i) {
    for (const at::Tensor& t : captured) t.zero_();
    graph.replay();
    c10::cuda::getCurrentCUDAStream().synchronize();
    expect_same_results(captured, expected);
  }
  EXPECT_EQ(allocations(0), before);
}

}  // namespace
}  // namespace tessera::test
