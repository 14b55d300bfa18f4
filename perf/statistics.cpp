#include "perf/statistics.h"

#include <algorithm>
#include <cmath>

#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

Summary summarize(std::vector<double> values) {
  if (values.empty()) throw InternalError::format("perf: a summary of no measurements");
  std::ranges::sort(values);
  return {.median = quantile(values, 0.5),
          .lower = quantile(values, 0.25),
          .upper = quantile(values, 0.75),
          .count = static_cast<int>(values.size())};
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) throw InternalError::format("perf: a geometric mean of no values");
  double sum = 0;
  for (double value : values) {
    if (!(value > 0)) throw InternalError::format("perf: a geometric mean with {}", value);
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace tessera::perf
