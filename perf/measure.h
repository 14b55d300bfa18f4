#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "perf/statistics.h"

/// Times on the GPU: several arms in one process, interleaved, so that the card's clock and heat are the same
/// for all.
namespace tessera::perf {

struct Settings {
  int rounds = 15;                 ///< at least 15 for a result that counts
  int cold_launches = 5;           ///< per arm and round
  double block_milliseconds = 14;  ///< of back-to-back launches of one arm, steady
  double warm_up_seconds = 0.5;    ///< of launches before the first steady round: the power limit is reached
};

/// What is measured: enqueues one call on torch's current stream.
using Arm = std::function<void()>;

struct Glance {
  std::vector<double> microseconds;
  std::vector<std::size_t>
      worthwhile;  ///< places of the arms that take at most four times the best one's time
};

class Timer {
 public:
  explicit Timer(const Settings& settings = {});
  ~Timer();

  /// Microseconds of one call, of every arm: single launches after the L2 cache was overwritten.
  std::vector<Summary> cold(const std::vector<Arm>& arms);
  /// Blocks of back-to-back launches.
  std::vector<Summary> steady(const std::vector<Arm>& arms);
  /// One launch of every arm, the second: says which are worth more.
  Glance glance(const std::vector<Arm>& arms);

  const Settings& settings() const { return settings_; }

 private:
  struct Device;  // events, and the memory that overwrites the cache

  double once(const Arm& arm, int launches);
  std::vector<std::size_t> shuffled(std::size_t count);

  Settings settings_;
  std::unique_ptr<Device> device_;
  unsigned order_ = 0;
};

}  // namespace tessera::perf
