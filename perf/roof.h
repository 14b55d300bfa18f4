#pragma once
#include <map>
#include <string>

#include "perf/measure.h"
#include "perf/result.h"
#include "tile_core/base/dtype.h"

namespace tessera::perf {

/// The device's measured limits: large copies with the same ratio of reads to writes, and the largest of
/// ATen's matrix products. Each is measured when first asked for, and kept.
class Roof {
 public:
  explicit Roof(Timer& timer) : timer_(timer) {}

  /// Bytes per second of the copy whose ratio is nearest: 0, 1, 2 or 3 reads for one write.
  double bandwidth(const Work& work);
  /// FLOP/s of at::mm, 8192 x 8192 x 8192; `tf32`: of f32, where torch allows it now.
  double flops(DType dtype, bool tf32);
  /// Microseconds below which the call cannot come: the larger of its two limits.
  double microseconds(const Work& work, DType dtype, bool tf32);

  /// All that was measured, for the record: "copy 1:1" in GB/s, "mm bf16" in TFLOP/s.
  const std::map<std::string, double>& measured() const { return measured_; }

 private:
  Timer& timer_;
  std::map<std::string, double> measured_;
};

/// How many reads for one write the copy has that stands for this ratio, 0 to 3.
int nearest_ratio(const Work& work);

}  // namespace tessera::perf
