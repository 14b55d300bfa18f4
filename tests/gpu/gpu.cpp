#include "tests/gpu/gpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "tests/support/same_bits.h"

namespace tessera::test {
namespace {

/// Under `auto` most tests would compare ATen with itself.
[[maybe_unused]] const int kPolicyIsTile = ::setenv("TESSERA_POLICY", "tile", /*overwrite=*/0);

struct Error {
  double maximum = 0;
  double rms = 0;

  void worsen(const at::Tensor& value, const at::Tensor& reference) {
    at::Tensor difference = (value.to(at::kDouble) - reference).abs();
    bool finite = at::isfinite(reference).all().item<bool>();
    ASSERT_TRUE(finite) << "the reference of an accuracy case must be finite";
    ASSERT_TRUE(at::isfinite(value).all().item<bool>()) << "not finite where the reference is";
    if (difference.numel() == 0) return;
    maximum = std::max(maximum, difference.max().item<double>());
    rms = std::max(rms, std::sqrt(difference.square().mean().item<double>()));
  }
};

double floor_of(at::ScalarType dtype) {
  return dtype == at::kFloat ? 1e-6 : dtype == at::kHalf ? 1e-4 : 1e-3;
}

/// Where `a` and `b` differ: how many elements, the first of them and its values.
std::string first_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
    return fmt::format("{} {} and {} {}", c10::toString(a.scalar_type()), fmt::join(a.sizes(), "x"),
                       c10::toString(b.scalar_type()), fmt::join(b.sizes(), "x"));
  const at::Tensor places = (a.ne(b) & ~(a.isnan() & b.isnan())).nonzero();
  if (places.size(0) == 0) return "zeros of another sign";
  const at::Tensor place = places[0].cpu();
  at::Tensor left = a, right = b;
  for (std::int64_t dim = 0; dim < place.numel(); ++dim) {
    left = left[place[dim].item<std::int64_t>()];
    right = right[place[dim].item<std::int64_t>()];
  }
  const at::ArrayRef<std::int64_t> at(place.const_data_ptr<std::int64_t>(),
                                      static_cast<std::size_t>(place.numel()));
  return fmt::format("{} of {} elements; the first at [{}]: {} and {}", places.size(0), a.numel(),
                     fmt::join(at, ", "), left.item<double>(), right.item<double>());
}

}  // namespace

double free_gibibytes() {
  c10::cuda::CUDACachingAllocator::emptyCache();
  const auto [free, total] =
      c10::cuda::CUDACachingAllocator::get()->getMemoryInfo(c10::cuda::current_device());
  return static_cast<double>(free) / (1U << 30U);
}

void dirty_allocator() {
  constexpr std::int64_t kLargest = std::int64_t{1} << 26, kSmallest = std::int64_t{1} << 7;
  std::vector<at::Tensor> held;  // torch keeps blocks of small tensors apart
  for (std::int64_t elements = kLargest; elements >= kSmallest; elements /= 4) {
    const int count = elements >= kLargest / 16 ? 1 : 4;
    for (int i = 0; i < count; ++i)
      held.push_back(at::full({elements}, NAN, at::device(at::kCUDA).dtype(at::kFloat)));
  }
}

at::Tensor normal(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::randn(sizes, generator, at::dtype(at::kFloat)).to(at::device(at::kCUDA).dtype(dtype));
}

void expect_accurate(const AccuracyCase& test) {
  SCOPED_TRACE(test.name);
  Error ours, native;
  double floor = 0;
  for (std::uint64_t seed : {1, 2, 3}) {
    std::vector<at::Tensor> inputs = test.inputs(seed);
    std::vector<at::Tensor> wide;
    for (const at::Tensor& t : inputs) wide.push_back(t.is_floating_point() ? t.to(at::kDouble) : t);
    at::Tensor reference = test.native(wide);
    dirty_allocator();
    at::Tensor value = test.ours(inputs);
    ASSERT_EQ(value.sizes(), reference.sizes());
    ours.worsen(value, reference);
    native.worsen(test.native(inputs), reference);
    expect_same_bits(value, test.ours(inputs));
    if (reference.numel() > 0)
      floor = std::max(floor, floor_of(inputs.front().scalar_type()) * reference.abs().max().item<double>());
  }
  EXPECT_LE(ours.maximum, native.maximum + floor) << "native's maximum error is " << native.maximum;
  EXPECT_LE(ours.rms, native.rms + floor) << "native's RMS error is " << native.rms;
}

OtherStream::OtherStream(c10::DeviceIndex device)
    : guard_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device)) {
  c10::cuda::device_synchronize();
}

void expect_same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (same_bits(a, b)) return;
  ADD_FAILURE() << "not the same bits: " << first_difference(a, b);
}

}  // namespace tessera::test
