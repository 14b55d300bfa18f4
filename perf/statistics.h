#pragma once
#include <vector>

namespace tessera::perf {

/// What repeated measurements of one thing say.
struct Summary {
  double median = 0;
  double lower = 0;  ///< quartiles: half of the measurements lie between them
  double upper = 0;
  int count = 0;
  bool operator==(const Summary&) const = default;
};

/// Quantiles are interpolated between neighbours. Throws InternalError for no values.
Summary summarize(std::vector<double> values);

/// Throws InternalError for no values, or one that is not positive.
double geometric_mean(const std::vector<double>& values);

}  // namespace tessera::perf
