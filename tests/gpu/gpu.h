#pragma once
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace tessera::test {

/// Skips the test with a message where there is no device.
#define TESSERA_NEEDS_GPU() \
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device on this machine"

/// Skips the test where less memory of the device is free than its tensors need.
#define TESSERA_NEEDS_MEMORY(gibibytes)                         \
  if (const double free = free_gibibytes(); free < (gibibytes)) \
  GTEST_SKIP() << "needs " << (gibibytes) << " GiB of the device's memory, of which " << free << " are free"
double free_gibibytes();

/// Fills freed memory with NaN, so that what a kernel leaves unwritten shows.
void dirty_allocator();

/// Random normal values, the same for one seed and shape.
at::Tensor normal(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed);

/// The worst of three seeds, against a float64 reference of the rounded inputs: maximum and RMS error are at
/// most native's in the same dtype, plus 1e-6 (fp32), 1e-4 (fp16), 1e-3 (bf16) of the reference's largest
/// magnitude (contract, section 3).
struct AccuracyCase {
  std::string name;
  std::function<std::vector<at::Tensor>(std::uint64_t seed)> inputs;
  std::function<at::Tensor(const std::vector<at::Tensor>&)> ours;
  std::function<at::Tensor(const std::vector<at::Tensor>&)>
      native;  ///< also the reference, on inputs in float64
};
void expect_accurate(const AccuracyCase& test);

/// The current stream while this lives: one of torch's pool, which waits for no other stream. What the device
/// was given before ends first, so that a test may overwrite on this stream what it read on another.
class OtherStream {
 public:
  explicit OtherStream(c10::DeviceIndex device = -1);

 private:
  c10::cuda::CUDAStreamGuard guard_;
};

/// As same_bits() has it: every bit, but for those of a NaN.
void expect_same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace tessera::test
