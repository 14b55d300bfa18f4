#include "tests/fuzz/random_tensor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace tessera::fuzz {
namespace {

using Sizes = std::vector<std::int64_t>;

at::Tensor dense(const Sizes& sizes, at::ScalarType dtype, at::Device device, int seed) {
  constexpr double kQuarter = -0.674;  // below it lies a quarter of the normal distribution
  at::Tensor numbers = normal_numbers(sizes, static_cast<std::uint64_t>(seed));
  if (dtype == at::kBool) return numbers.gt(kQuarter).to(device);
  if (!at::isFloatingType(dtype)) numbers = numbers * 3;
  return numbers.to(dtype).to(device);
}

}  // namespace

at::Tensor normal_numbers(const Sizes& sizes, std::uint64_t seed) {
  at::Tensor numbers = at::empty(sizes, at::kDouble);
  std::mt19937_64 random(seed);
  double* data = numbers.data_ptr<double>();
  constexpr int kDraws = 4, kDrop = 11;  // the sum of a few uniform numbers; what a double holds of one
  const double deviation = std::sqrt(kDraws / 12.0);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) sum += static_cast<double>(random() >> kDrop) * 0x1p-53;
    data[i] = (sum - kDraws / 2.0) / deviation;
  }
  return numbers;
}

RandomTensor random_tensor(Choices& c, const Sizes& sizes, at::ScalarType dtype, at::Device device) {
  const int seed = c.below(1000);
  const auto rank = static_cast<int>(sizes.size());
  std::string text = fmt::format("{}[{}] seed {}", c10::toString(dtype), fmt::join(sizes, ", "), seed);
  Sizes base = sizes;
  const int view = rank == 0 ? 0 : c.below(8);
  switch (view) {
    case 1: {
      Sizes order(sizes.size());
      std::iota(order.begin(), order.end(), 0);
      order = c.shuffled(order);
      Sizes back(sizes.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        base[i] = sizes[static_cast<std::size_t>(order[i])];
        back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
      }
      return {dense(base, dtype, device, seed).permute(back),
              text + fmt::format(" permuted by {}", fmt::join(back, ", "))};
    }
    case 2:
      base.back() += 3;
      return {dense(base, dtype, device, seed).slice(-1, 1, 1 + sizes.back()),
              text + " of rows 3 longer, from 1"};
    case 3:
      base.back() *= 2;
      return {dense(base, dtype, device, seed).slice(-1, 0, base.back(), 2), text + " every second of a row"};
    case 4: {
      const int dim = c.below(rank);
      base[static_cast<std::size_t>(dim)] = 1;
      return {dense(base, dtype, device, seed).expand(sizes), text + fmt::format(" expanded along {}", dim)};
    }
    case 5: {
      const std::int64_t count =
          std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
      return {dense({count + 1}, dtype, device, seed).slice(0, 1).view(sizes), text + " shifted by one"};
    }
    default:
      return {dense(base, dtype, device, seed), text};
  }
}

}  // namespace tessera::fuzz
